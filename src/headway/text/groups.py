"""The files of parallel text that somebody gives: their languages, and a group for each pair of languages of a model of several.

Text of a single pair, given without its languages in front, is one group without a symbol of its target
language: see `headway.text.vocabulary`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypedDict, TypeVar

from headway.errors import HeadwayError, UsageError
from headway.text.languages import (
    Languages,
    base_code,
    is_code,
    list_codes,
    name_pair,
    normalize_code,
    parse_pair,
)
from headway.text.lines import check_read_once, plain_suffix
from headway.text.readers import read_pairs

T = TypeVar("T")
Files = Sequence[str | Path]  # one file of pairs, or two plain text files


def check_file_languages(train: Files, *others: Files) -> None:
    """Check that file names do not show other languages, or another order, than the training files.

    Raises:
        HeadwayError: If one does.
    """
    own = _shown_languages(train)
    for paths in others:
        found = _shown_languages(paths)
        if own and found and found != own:
            raise HeadwayError(
                f"{paths[0]} {paths[1]}: their names say {found[0]} and {found[1]}, but the training"
                f" text is {own[0]} and {own[1]}, in this order"
            )


def check_file_language(path: str | Path, language: str, other: str) -> None:
    """Check that the name of a file in one language does not end in the code of the other.

    Raises:
        HeadwayError: If it does.
    """
    if language != other and plain_suffix(path) == f".{other}":
        raise HeadwayError(f"{path}: its name says {other}, but this text must be in {language}")


def check_group_languages(group: "TextGroup") -> None:
    """Check that no file of a pair of languages has a name that ends in the code of the other side.

    Raises:
        HeadwayError: If one has.
    """
    source, target = group.codes
    for paths in (group.train, group.valid, *group.tests):
        if len(paths) == 2:  # else a file has both sides
            check_file_language(paths[0], source, target)
            check_file_language(paths[1], target, source)


def language_from_name(path: str | Path) -> str | None:
    """Return the language that a file name ends in: ``de`` of test.de.gz, ``zh-CN`` of test.zh-CN; None: in none.

    Three letters are no language here, because names end in ``out``, ``ref`` and ``txt``.
    """
    suffix = plain_suffix(path)[1:]
    base = base_code(suffix)
    return base + suffix[2:] if is_code(suffix) and len(base) == 2 else None


def languages_from_names(paths: Files) -> tuple[str, str]:
    """Return the languages that two file names end in: ``train.en.gz`` and ``train.de``: en and de.

    Raises:
        HeadwayError: If the names do not end in languages, or both in the same word, such as ``tok``.
    """
    give = "give --languages SOURCE TARGET, such as --languages en de"
    codes = []
    for path in paths:
        if Path(path).is_dir():
            raise HeadwayError(f"{path}: is a directory: give a file")
        code = plain_suffix(path)[1:] if len(paths) == 2 else ""
        if not is_code(code) or code == "txt":
            raise HeadwayError(f"{path}: the name does not end in a language code: {give}")
        codes.append(code)
    if codes[0] == codes[1]:
        raise HeadwayError(
            f"{paths[0]} {paths[1]}: both names end in {codes[0]}: give a text and its translation, or {give}"
        )
    return codes[0], codes[1]


def _shown_languages(paths: Files) -> Languages | None:
    """Return the languages that the names of two files show; None: they show none."""
    try:
        return languages_from_names(paths) if len(paths) == 2 else None
    except HeadwayError:
        return None


Text = Files | Mapping[str, Files]  # of one pair of languages; or "en-de" -> text of this pair
Validation = Files | int | Mapping[str, Files | int]  # text, or the number of pairs to hold out


@dataclass(frozen=True)
class TextGroup:
    """The raw text of one pair of languages.

    Attributes:
        train: The training text: one file of pairs, or two plain text files.
        valid: The validation text, likewise; none: pairs are held out of the training text.
        held_out: The number of these pairs.
        tests: Test sets.
        languages: Codes of source and target, if the user gave them.
        codes: Codes of source and target.
    """

    train: list[str]
    valid: list[str]
    held_out: int
    tests: list[list[str]]
    languages: Languages | None
    codes: Languages

    @property
    def holds_out(self) -> bool:
        """Whether validation text is held out of the training text."""
        return not self.valid

    def files(self) -> Iterator[str]:
        """Yield all files."""
        yield from (*self.train, *self.valid)
        for paths in self.tests:
            yield from paths


class Manifest(TypedDict, total=False):
    """A corpus that was fetched by name, and its origin: the content of a ``manifest.json``.

    Attributes:
        format: The version of this record.
        name: The name by which the corpus was fetched.
        languages: Codes of source and target.
        files: Name of each file -> its sha256 and its number of lines.
        program: The program that fetched it, with its version.
        revision: The revision, if it is known.
        references: The number of references of a test set.
        parts: The manifests of the corpora that were joined; such a corpus has no program.
    """

    format: int
    name: str
    languages: tuple[str, str]
    files: dict[str, dict[str, str | int]]
    program: str
    revision: str | None
    references: int
    parts: list["Manifest"]


@dataclass(frozen=True)
class Group:
    """The pairs of one pair of languages in prepared data; groups follow each other.

    Attributes:
        languages: Codes of source and target.
        training_pairs: Number of training pairs.
        validation_pairs: Number of validation pairs.
    """

    languages: Languages
    training_pairs: int
    validation_pairs: int


def make_groups(
    train: Text,
    valid: Validation,
    tests: Sequence[Text] = (),
    languages: Languages | None = None,
) -> list[TextGroup]:
    """Return the text of each pair of languages, in the order of their codes.

    So the order in which a user names the groups does not matter.

    Args:
        train: Text of one pair, or of several.
        valid: Likewise; a number is held out of each group.
        tests: Likewise.
        languages: Codes of source and target, of text of one pair.

    Raises:
        HeadwayError: If a name of a file shows other languages, text of a pair is missing, or standard input is given
            twice.
    """
    if languages and isinstance(train, Mapping):
        raise UsageError("--languages: each group of --train names its languages: omit it")
    trains, tests_by_name = _by_name(train), [_by_name(text) for text in tests]
    valids: Mapping[str, Files | int]
    valids = dict.fromkeys(trains, valid) if isinstance(valid, int) else _by_name(valid)
    for name in chain(valids, *tests_by_name):
        if name not in trains:
            example = name or next(iter(trains))
            raise UsageError(
                f"{name or 'text without languages'}: there is no training text of this pair: name the same pairs in"
                f" --train, --valid and --test, such as --train {example} FILE ..."
            )
    pairs = [(languages, name) for name in trains]
    if isinstance(train, Mapping):
        pairs = sorted((require_pair(name), name) for name in trains)
    groups = []
    for pair, name in pairs:
        if name not in valids:
            raise UsageError(f"--valid: no validation text of {name}: give --valid {name} FILE ...")
        own_tests = [_words(text[name]) for text in tests_by_name if name in text]
        group = _make_group(trains[name], valids[name], own_tests, pair)
        for paths in (group.train, group.valid, *group.tests) if name else ():
            _check_order(paths, group.codes)
        groups.append(group)
    spellings: dict[str, str] = {}
    for code in list_codes(group.codes for group in groups):
        other = spellings.setdefault(normalize_code(code), code)
        if other != code:
            raise UsageError(f"--train: {other} and {code} are one language: write one code")
    check_read_once(path for group in groups for path in group.files())
    return groups


def _by_name(text: T | Mapping[str, T]) -> Mapping[str, T]:
    """Return text by the name of its pair of languages; text of a single pair may have none."""
    return text if isinstance(text, Mapping) else {"": text}


def list_files(text: Validation) -> list[str]:
    """Return the files of text; a number of pairs has none."""
    if isinstance(text, int):
        return []
    if isinstance(text, Mapping):
        return [file for name in sorted(text, key=require_pair) for file in list_files(text[name])]
    return _words(text)


def list_targets(train: Text) -> list[str]:
    """Return the target languages of groups, for which a vocabulary needs symbols; none without groups."""
    return sorted({require_pair(name)[1] for name in train}) if isinstance(train, Mapping) else []


def require_pair(name: str) -> Languages:
    """Return the languages of the name of a group.

    Raises:
        UsageError: If it names no two languages.
    """
    pair = parse_pair(name)
    if pair is None:
        raise UsageError(f"{name}: not a pair of languages such as en-de")
    return pair


def _check_order(paths: Files, pair: Languages) -> None:
    """Check that the names of two files do not show the languages in the other order."""
    if _shown_languages(paths) == pair[::-1] != pair:
        raise UsageError(
            f"{' '.join(_words(paths))}: give the text in {pair[0]} first, as {name_pair(pair)} says"
        )


def _make_group(
    train: Files, valid: Files | int, tests: list[list[str]], languages: Languages | None
) -> TextGroup:
    files, held_out = ([], valid) if isinstance(valid, int) else (_words(valid), 0)
    others = tests if isinstance(valid, int) else [files, *tests]
    for paths in (train, *others):
        read_pairs(paths, languages)  # opens no file yet, but checks the names
    codes = languages or languages_from_names(train)
    check_file_languages(train, *others)
    return TextGroup(_words(train), files, held_out, tests, languages, codes)


def _words(paths: Files) -> list[str]:
    return [str(path) for path in paths]
