"""The languages of text files, as their names show them."""

from collections.abc import Sequence
from pathlib import Path

from headway.errors import HeadwayError
from headway.text.languages import base_code, is_code

Files = Sequence[str | Path]  # one file of pairs, or two plain text files


def check_file_languages(train: Files, *others: Files) -> None:
    """Check that file names do not show other languages, or another order, than the training files.

    Raises:
        HeadwayError: If one does.
    """
    try:
        own = languages_from_names(train)
    except HeadwayError:  # the names show no languages
        return
    for paths in others:
        try:
            found = languages_from_names(paths)
        except HeadwayError:
            continue
        if found != own:
            raise HeadwayError(
                f"{paths[0]} {paths[1]}: their names say {found[0]} and {found[1]}, but the training"
                f" text is {own[0]} and {own[1]}, in this order"
            )


def check_file_language(path: str | Path, language: str, other: str) -> None:
    """Check that the name of a file in one language does not end in the code of the other.

    Raises:
        HeadwayError: If it does.
    """
    if language != other and _last_suffix(path) == other:
        raise HeadwayError(f"{path}: its name says {other}, but this text must be in {language}")


def language_from_name(path: str | Path) -> str | None:
    """Return the language that a file name ends in: ``de`` of test.de.gz, ``zh-CN`` of test.zh-CN; None: in none.

    Three letters are no language here, because names end in ``out``, ``ref`` and ``txt``.
    """
    suffix = _last_suffix(path)
    base = base_code(suffix)
    return base + suffix[2:] if is_code(suffix) and len(base) == 2 else None


def _last_suffix(path: str | Path) -> str:
    """Return the last suffix of a file name, such as ``de`` of test.de.gz; .gz and the like do not count. Empty: none."""
    suffixes = [s[1:] for s in Path(path).suffixes if s not in (".gz", ".xz", ".zst")]
    return suffixes[-1] if suffixes else ""


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
        code = _last_suffix(path) if len(paths) == 2 else ""
        if not is_code(code) or code == "txt":
            raise HeadwayError(f"{path}: the name does not end in a language code: {give}")
        codes.append(code)
    if codes[0] == codes[1]:
        raise HeadwayError(f"{paths[0]} {paths[1]}: both names end in {codes[0]}: {give}")
    return codes[0], codes[1]
