"""The files of parallel text that somebody gives: their languages, and a group for each pair of languages of a model of several.

Text of a single pair, given without its languages in front, is one group without a symbol of its target
language: see `headway.text.vocabulary`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from headway.errors import HeadwayError, UsageError
from headway.text.languages import (
    Languages,
    base_code,
    is_code,
    list_codes,
    list_pairs,
    name_pair,
    normalize_code,
    parse_pair,
)
from headway.text.lines import check_read_once, plain_suffix
from headway.text.readers import read_pairs

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
    if len(paths) == 2 and Path(paths[0]) == Path(paths[1]):
        raise HeadwayError(
            f"{paths[0]}: is source and target: give the file with its translations (to train on copies: --languages"
            " en en --text.compare-sides false)"
        )
    for path in paths:
        if Path(path).is_dir():
            raise HeadwayError(f"{path}: is a directory: give a file")
        code = plain_suffix(path)[1:] if len(paths) == 2 else ""
        if not is_code(code) or code == "txt":
            raise HeadwayError(f"{path}: the name does not end in a language code: {give}")
        codes.append(code)
    if codes[0] == codes[1]:
        raise HeadwayError(f"{paths[0]} {paths[1]}: both names end in {codes[0]}: {give}")
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
    groups = _make_groups(train, valid, tests, languages)
    check_read_once(path for group in groups for path in group.files())
    return groups


def _make_groups(
    train: Text, valid: Validation, tests: Sequence[Text], languages: Languages | None
) -> list[TextGroup]:
    if not isinstance(train, Mapping):
        if isinstance(valid, Mapping) or any(isinstance(text, Mapping) for text in tests):
            raise UsageError("--train needs the languages of its text too, such as --train en-de")
        paths = [_words(text) for text in tests if not isinstance(text, Mapping)]
        return [_make_group(train, valid, paths, languages)]
    if languages:
        raise UsageError("--languages: each group of --train names its languages: omit it")
    groups = []
    for pair, name in sorted((require_pair(name), name) for name in train):
        own = [test[name] for test in tests if isinstance(test, Mapping) and name in test]
        if isinstance(valid, Mapping) and name not in valid:
            raise UsageError(f"--valid: no validation text of {name}: give --valid {name} FILE ...")
        if not isinstance(valid, int | Mapping) or not all(isinstance(t, Mapping) for t in tests):
            raise UsageError(f"--train has groups: give languages to other text too, as in {name}")
        chosen = valid if isinstance(valid, int) else valid[name]
        group = _make_group(train[name], chosen, [_words(text) for text in own], pair)
        for files in (group.train, group.valid, *group.tests):
            _check_order(files, pair)
        groups.append(group)
    for other in (valid, *tests):
        for name in other if isinstance(other, Mapping) else ():
            if name not in train:
                raise UsageError(f"{name}: no training text of this pair: give --train {name}")
    if len({group.codes for group in groups}) < len(groups):
        raise UsageError(f"--train: {list_pairs(group.codes for group in groups)}: a pair twice")
    spellings: dict[str, str] = {}
    for code in list_codes(group.codes for group in groups):
        other = spellings.setdefault(normalize_code(code), code)
        if other != code:
            raise UsageError(f"--train: {other} and {code} are one language: write one code")
    return groups


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
