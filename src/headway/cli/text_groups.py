"""The text of ``--train``, ``--valid`` and ``--test``: of one pair of languages, or in groups of several."""

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli.downloads import print_notice
from headway.errors import UsageError
from headway.extension import load_all

if TYPE_CHECKING:
    from headway.text.groups import Files, Text, Validation
    from headway.text.languages import Languages

Given = Sequence[Sequence[str]] | None  # the words of each occurrence of an option


def parse_validation(given: Given, option: str = "--valid") -> "Validation":
    """Return the text or the numbers of pairs that an option gives, by pair of languages if there are groups.

    Args:
        given: The words of the option.
        option: Its name.

    Raises:
        UsageError: If the option is given several times, but not with the languages of each text.
    """
    groups: dict[str, list[str] | int] = {}
    for words in given or ():
        if not is_group(words):
            if len(given or ()) > 1:
                raise UsageError(
                    f"{option} {words[0]}: each of several texts needs its languages first, such as"
                    f" {option} en-de {' '.join(words)}"
                )
            return _number_or_words(words, option)
        if words[0] in groups:
            raise UsageError(f"{option} {words[0]}: given twice: join the files of one pair")
        groups[words[0]] = _number_or_words(words[1:], option)
    return groups or []


def parse_text(given: Given, option: str) -> "Text":
    """Return the text of an option that takes no numbers; see `parse_validation`."""
    return _require_files(parse_validation(given, option), option)


def fetch_text(args: argparse.Namespace, place: str) -> "Text":
    """Return the text of an option that takes no numbers; see `fetch_validation`."""
    return _require_files(fetch_validation(args, place), f"--{place}")


def fetch_validation(args: argparse.Namespace, place: str = "valid") -> "Validation":
    """Return the text of ``--train``, ``--valid`` or ``--test``; named corpora are downloaded.

    Args:
        args: The parsed command line; the languages of a text choose the files of a named corpus.
        place: train, valid or test.
    """
    from headway.text.groups import require_pair

    text = parse_validation(getattr(args, place), f"--{place}")
    is_quiet = getattr(args, "quiet", False)
    if isinstance(text, int):
        return text
    if isinstance(text, Mapping):
        return {
            name: words
            if isinstance(words, int)
            else _fetch(words, require_pair(name), place, is_quiet=is_quiet)
            for name, words in text.items()
        }
    codes = (args.languages[0], args.languages[1]) if args.languages else None
    return _fetch(text, codes, place, is_quiet=is_quiet)


def _fetch(
    words: "Files", languages: "Languages | None", place: str, *, is_quiet: bool
) -> list[str]:
    """Return the files of a text: extensions replace the names of corpora."""
    files = [*map(str, words)]
    for _, corpora in load_all("corpora"):
        notify = (lambda line: None) if is_quiet else print_notice
        files = corpora.local_files(files, languages, place, notify)
    return files


def _require_files(text: "Validation", option: str) -> "Text":
    if isinstance(text, int):
        raise UsageError(f"{option} {text}: must be files, not a number")
    if not isinstance(text, Mapping):
        return text
    numbers = [name for name, words in text.items() if isinstance(words, int)]
    if numbers:
        raise UsageError(f"{option} {numbers[0]}: must be files, not a number")
    return {name: words for name, words in text.items() if not isinstance(words, int)}


def is_group(words: Sequence[str]) -> bool:
    """Return whether words begin with a pair of languages and not with a file."""
    from headway.text.languages import is_code, parse_pair

    if len(words) < 2 or Path(words[0]).is_file():
        return False
    pair = parse_pair(words[0])
    return pair is not None and all(map(is_code, pair))


def _number_or_words(words: Sequence[str], option: str) -> int | list[str]:
    [first, *others] = words or [""]
    if others or not re.match(r"-?[\d.]", first) or Path(first).exists():
        return list(words)
    if not re.fullmatch(r"-?\d+", first):
        raise UsageError(
            f"{option} {first}: give a whole number without commas, such as 1000, or files"
        )
    return int(first)
