"""Parallel text files as pairs of sentences, read in constant memory and never misaligned."""

import json
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal, NamedTuple, overload

from headway.errors import HeadwayError
from headway.extension import collect, find_switched_off, load, load_extensions
from headway.text.encodings import check_encoding
from headway.text.file_kinds import name_by_suffix, plain_suffix
from headway.text.lines import STANDARD_INPUT, SURROGATE, Damaged, read_lines, scan_lines
from headway.text.tables import Layout, read_table, recognize_layout

__all__ = ["Damaged", "Pair", "read_lines", "read_pairs"]

Languages = tuple[str, str]
TABLES = {".csv", ".tsv"}
PAIRED = {*TABLES, ".jsonl"}  # suffixes of files that hold both sides


@dataclass(frozen=True)
class FileForm:
    """How text files are written, where they do not show it.

    Args:
        encoding: The encoding of lines that are not UTF-8, such as "cp1252"; None: all are UTF-8.
        columns: The columns of source and target in a table, as names in its first row or numbers
            from 1; None: recognized.

    Raises:
        HeadwayError: If there is no such encoding.
    """

    encoding: str | None = None
    columns: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            check_encoding(self.encoding)

    def to_words(self) -> dict[str, str]:
        """Return what the user gave: the name of an option -> its words."""
        given = {"encoding": [self.encoding or ""], "columns": self.columns or ()}
        return {name: " ".join(words) for name, words in given.items() if any(words)}


UTF8 = FileForm()


class Pair(NamedTuple):
    """A sentence and its translation.

    Args:
        source: Text without line breaks.
        target: Text without line breaks.
        line: The line of the file where the pair begins, from 1.
    """

    source: str
    target: str
    line: int


@overload
def read_pairs(
    paths: Sequence[str | Path],
    languages: Languages | None = None,
    strict: Literal[True] = True,
    form: FileForm = UTF8,
) -> Generator[Pair]: ...
@overload
def read_pairs(
    paths: Sequence[str | Path],
    languages: Languages | None = None,
    *,
    strict: Literal[False],
    form: FileForm = UTF8,
) -> Generator[Pair | Damaged]: ...


def read_pairs(
    paths: Sequence[str | Path],
    languages: Languages | None = None,
    strict: bool = True,
    form: FileForm = UTF8,
) -> Generator[Pair] | Generator[Pair | Damaged]:
    """Read parallel text. The files are closed at the end, at an error, and by the generator's ``close``.

    Args:
        paths: Two plain text files with one sentence on each line; or one file: .tsv or .csv (a table
            with columns for source and target), .jsonl (``{"source": ..., "target": ...}``, or
            language codes as keys, at the top or under ``"translation"``), one that an extension
            reads, such as .tmx, or ``-`` for lines of source, tab, target on standard input. All but standard input
            may be compressed (.gz, .xz, .zst).
        languages: Codes of source and target, which .jsonl and .tmx may need: ``("en", "de")``.
        strict: Raise an error at the first line that is no pair. Otherwise a `Damaged` is yielded
            in its place.
        form: The encoding of files that are not UTF-8, and the columns of tables.

    Raises:
        HeadwayError: If a file cannot be read, or (``strict``) a line is no pair; it names the file
            and line. If two files have different numbers of lines; it names both numbers.
    """
    pairs = _scan_pairs([str(path) for path in paths], languages, form)
    return _undamaged(pairs) if strict else pairs


def require_languages(pairs: Generator[Pair | Damaged]) -> Generator[Pair | Damaged]:
    """Yield pairs, and check that a file of several languages has some in the wanted ones.

    Raises:
        HeadwayError: If every unit lacks one of the languages; it names the first unit and its languages.
    """
    first: Damaged | None = None
    is_empty = True
    with closing(pairs):
        for pair in pairs:
            if isinstance(pair, Damaged) and pair.is_elsewhere:
                first = first or pair
            else:
                is_empty = False
            yield pair
    if is_empty and first:
        raise first.error()


def describe_layout(
    paths: Sequence[str | Path], languages: Languages | None, form: FileForm = UTF8
) -> str:
    """Return in one line how a table, or the file of an extension, is read; an empty string for other files."""
    path = str(paths[0])
    suffix = _kind(path)
    if len(paths) > 1:
        return ""
    if suffix in TABLES:
        return f"{path}: {recognize_layout(path, suffix, languages, form.columns, form.encoding)}"
    name, target = collect("readers", PAIRED).get(suffix, ("", ""))
    if not name or target.startswith("headway."):  # whose version is that of Headway
        return ""
    return f"{path}: read by extension '{name}' {load_extensions()[name].version}"


def _undamaged(pairs: Generator[Pair | Damaged]) -> Generator[Pair]:
    with closing(pairs):
        for pair in pairs:
            if isinstance(pair, Damaged):
                raise pair.error()
            yield pair


def _scan_pairs(
    paths: list[str], languages: Languages | None, form: FileForm
) -> Generator[Pair | Damaged]:
    kinds = [_kind(path) for path in paths]
    match kinds:
        case ["-"] if form.columns:
            raise HeadwayError(
                f"--columns {' '.join(form.columns)}: standard input must have lines of source, tab, target: choose"
                " the columns before, such as by awk, or give a file"
            )
        case ["-"]:
            return _table(paths[0], "", languages, form)
        case [".tsv"] | [".csv"]:
            return _table(paths[0], kinds[0], languages, form)
        case [".jsonl"]:
            return _jsonl(paths[0], languages, form.encoding)
        case [suffix]:
            added = collect("readers", PAIRED)
            if suffix in added:
                return _by_extension(paths[0], languages, *added[suffix])
            owner = find_switched_off("readers", suffix)
            reason = f"{suffix} {owner}" if owner else name_by_suffix(paths[0])
            *known, last = [".csv", ".tsv", ".jsonl", *added]
            raise HeadwayError(
                f"{paths[0]}: {reason or 'plain text needs two files'}; one file must be {', '.join(known)} or {last}"
            )
        case [_, _] if {*PAIRED, *collect("readers", PAIRED)}.isdisjoint(kinds) and kinds != [
            "-"
        ] * 2:
            return _two_files(paths[0], paths[1], form.encoding)
        case [_, _]:
            raise HeadwayError(
                f"{paths[0]} {paths[1]}: two files must be plain text with one sentence on each line"
            )
    raise HeadwayError(
        f"{len(paths)} files given: give one file of pairs, or a source file and a target file; several texts of a"
        " pair of languages are joined before, such as by cat"
    )


def _kind(path: str) -> str:
    return path if path == STANDARD_INPUT else plain_suffix(path)


def _two_files(
    source_path: str, target_path: str, encoding: str | None
) -> Generator[Pair | Damaged]:
    source_count = target_count = 0
    with (
        closing(scan_lines(source_path, encoding)) as sources,
        closing(scan_lines(target_path, encoding)) as targets,
    ):
        for source, target in zip_longest(sources, targets):
            source_count += source is not None
            target_count += target is not None
            if source is None or target is None:
                continue  # one file has ended; count the other's remaining lines for the message
            if isinstance(source, Damaged):
                yield source
            elif isinstance(target, Damaged):
                yield target
            else:
                yield Pair(source, target, source_count)
    if source_count != target_count:
        raise HeadwayError(
            f"{source_path} has {source_count} lines, but {target_path} has {target_count}:"
            " line n of one must translate line n of the other"
        )


def _table(
    path: str, suffix: str, languages: Languages | None, form: FileForm
) -> Generator[Pair | Damaged]:
    layout = Layout()  # of standard input, whose beginning cannot be read twice
    if suffix:
        layout = recognize_layout(path, suffix, languages, form.columns, form.encoding)
    source, target = layout.columns
    for row in read_table(path, layout, form.encoding):
        if isinstance(row, Damaged):
            yield row
        elif layout.is_quoted:
            yield Pair(one_line(row.cells[source]), one_line(row.cells[target]), row.line)
        else:
            yield Pair(row.cells[source], row.cells[target], row.line)


def _jsonl(
    path: str, languages: Languages | None, encoding: str | None
) -> Generator[Pair | Damaged]:
    for number, line in enumerate(scan_lines(path, encoding), 1):
        if isinstance(line, Damaged):
            yield line
        elif line.strip():
            sides = _sides(line, languages)
            if sides is None:
                yield Damaged(
                    path, number, _describe_wanted(languages), is_elsewhere=languages is not None
                )
            else:
                yield (
                    Damaged(path, number, sides) if isinstance(sides, str) else Pair(*sides, number)
                )


def _describe_wanted(languages: Languages | None) -> str:
    wanted = '"source" and "target"' + (' or "{}" and "{}"'.format(*languages) if languages else "")
    return f"no texts under {wanted}" + (
        "" if languages else ": give --languages if the keys are language codes"
    )


def _sides(line: str, languages: Languages | None) -> tuple[str, str] | str | None:
    """Return the two sides of a line of JSON, the reason why it has none, or None: it has other keys."""
    try:
        record = json.loads(line)
    except RecursionError:
        return "broken JSON: nested too deeply"
    except json.JSONDecodeError as problem:
        return f"broken JSON: {problem.msg} at column {problem.colno}"
    except ValueError:
        return "broken JSON: a number is too long"
    if isinstance(record, dict) and isinstance(record.get("translation"), dict):
        record = record["translation"]
    if not isinstance(record, dict):
        return "broken JSON: a line must be an object with source and target"
    for source, target in filter(None, (languages, ("source", "target"))):
        if isinstance(record.get(source), str) and isinstance(record.get(target), str):
            if SURROGATE.search(record[source] + record[target]):
                return "not Unicode: it holds half of a surrogate pair"
            return one_line(record[source]), one_line(record[target])
    return None


def _by_extension(
    path: str, languages: Languages | None, extension: str, target: str
) -> Generator[Pair | Damaged]:
    for number, pair in enumerate(load(extension, target)(path, languages), 1):
        match pair:
            case Pair() | Damaged():
                yield pair
            case (str(source), str(target)) if not SURROGATE.search(source + target):
                yield Pair(one_line(source), one_line(target), number)
            case (str(), str()):
                yield Damaged(path, number, "not Unicode: it holds half of a surrogate pair")
            case _:
                raise HeadwayError(
                    f"{path}: pair {number}: extension '{extension}' must yield tuples of two texts, not {pair!r}"
                )


def one_line(text: str) -> str:
    """Join the lines of a text with spaces, because later files have one sentence on each line."""
    if "\n" not in text and "\r" not in text:
        return text
    parts = (part.strip() for part in text.replace("\r", "\n").split("\n"))
    return " ".join(part for part in parts if part)
