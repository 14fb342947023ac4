"""Models and text as the command line names them: files and directories, or names of what is downloaded first."""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.errors import HeadwayError, UsageError, suggest
from headway.extension import load_all

if TYPE_CHECKING:
    from headway.text.groups import Files
    from headway.text.languages import Languages

MODELS = ("model", "models", "init", "backward")  # the arguments that take a MODEL


def fetch_models(args: argparse.Namespace) -> None:
    """Replace models on the hub, and models of other programs, by directories of Headway models."""
    for option in MODELS:
        given = getattr(args, option, None)
        if isinstance(given, str):
            setattr(args, option, fetch_model(given, takes_preset="takes_preset" in args))
        elif given:
            setattr(args, option, [fetch_model(word) for word in given])


def fetch_model(word: str, *, takes_preset: bool = False) -> str:
    """Return the directory of a Headway model.

    Args:
        word: A directory, a model of another program, or a name on the hub.
        takes_preset: Whether the word may also be the name of a preset, which is returned as it is.

    Raises:
        HeadwayError: If no extension has the model; the message is from the last extension that was asked.
    """
    from headway.config import PRESETS

    path = Path(word)
    is_other = is_of_other_program(path)
    if (path.is_dir() and not is_other) or (takes_preset and word in PRESETS):
        return word
    if path.is_file() and not is_other:
        raise UsageError(
            f"{word}: is a file, not a model: translate it with headway translate MODEL --input {word} --output FILE"
        )
    failure = f"{word}: no such directory: give a run or model directory"
    for _, source in load_all("models"):
        if is_other and not source.is_foreign(path):
            continue
        try:
            return str(source.fetch(word, print_notice))
        except HeadwayError as error:
            if is_other:
                raise
            failure = str(error)
    meant = suggest(word, PRESETS) if takes_preset and "/" not in word else ""
    raise HeadwayError(f"{failure}, or a preset{meant}" if meant else failure)


def is_of_other_program(path: Path) -> bool:
    """Return whether a file or directory is no document, but a model of another program that an extension knows."""
    if path.is_file() and any(kind.takes(str(path)) for _, kind in load_all("inputs")):
        return False
    return path.exists() and any(source.is_foreign(path) for _, source in load_all("models"))


def print_notice(line: str) -> None:
    """Print a message for the user on standard error."""
    print(line, file=sys.stderr)


def parse_text(given: Sequence[Sequence[str]] | None, option: str) -> Any:
    """Return the files of ``--train``, ``--valid`` or ``--test``, by pair of languages if there are groups.

    Args:
        given: The words of each occurrence of the option.
        option: Its name; ``--valid`` may also have a number of pairs in place of files.

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
            return _parse_words(words, option)
        if words[0] in groups:
            raise UsageError(f"{option} {words[0]}: given twice: join the files of one pair")
        groups[words[0]] = _parse_words(words[1:], option)
    return groups or []


def fetch_text(args: argparse.Namespace, place: str) -> Any:
    """Return the text of an option as `parse_text` does; named corpora are downloaded.

    Args:
        args: The parsed command line; the languages of a text choose the files of a named corpus.
        place: train, valid or test.
    """
    from headway.text.groups import require_pair

    notify = (lambda line: None) if getattr(args, "quiet", False) else print_notice

    def fetch(words: "Files | int", languages: "Languages | None") -> "Files | int":
        for _, corpora in load_all("corpora"):
            if not isinstance(words, int):
                words = corpora.local_files([*map(str, words)], languages, place, notify)
        return words

    text = parse_text(getattr(args, place), f"--{place}")
    if isinstance(text, Mapping):
        return {name: fetch(words, require_pair(name)) for name, words in text.items()}
    return fetch(text, (args.languages[0], args.languages[1]) if args.languages else None)


def is_group(words: Sequence[str]) -> bool:
    """Return whether words begin with a pair of languages and not with a file."""
    from headway.text.languages import is_code, parse_pair

    if len(words) < 2 or Path(words[0]).is_file():
        return False
    pair = parse_pair(words[0])
    return pair is not None and all(map(is_code, pair))


def _parse_words(words: Sequence[str], option: str) -> int | list[str]:
    [first, *others] = words or [""]
    if others or not re.fullmatch(r"-?[.,_]*+\d[\d.,_%]*+", first) or Path(first).exists():
        return list(words)
    if option != "--valid":
        raise UsageError(f"{option} {first}: must be files, not a number")
    if not re.fullmatch(r"-?\d+", first):
        raise UsageError(
            f"{option} {first}: give a whole number without commas, such as 1000, or files"
        )
    return int(first)
