"""Parallel text files as pairs of sentences, read in constant memory and never misaligned."""

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, overload

from headway.errors import HeadwayError
from headway.extension import collect, find_switched_off, load, load_extensions
from headway.text.languages import Languages
from headway.text.lines import STANDARD_INPUT, SURROGATE, Damaged, plain_suffix, scan_lines

PAIRED = (".csv", ".tsv", ".jsonl")  # suffixes of files that hold both sides
FEW = 3  # unreadable lines that never stop the reading
INTERVAL = 10_000  # pairs after which their share is compared with the limit again
T = TypeVar("T")


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
            from headway.text.encodings import check_encoding

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


def require_readable(
    pairs: Generator[T | Damaged],
    languages: Languages,
    form: FileForm,
    limit: float,
    name: str = "pairs",
) -> Iterator[T | Damaged]:
    """Yield pairs, as long as the share of those that cannot be read stays within a limit.

    Text of other languages than the wanted ones does not count, but there must be other text.

    Args:
        pairs: Pairs as `read_pairs` yields them, or lines; they are closed.
        languages: Codes of source and target, which suggest an encoding for the message.
        form: How the files were read.
        limit: The largest share of pairs that may be unreadable; 0: the first one is an error.
        name: What a message calls them.

    Raises:
        HeadwayError: If the share is larger; it names the first unreadable line and the way out. If all text is of
            other languages; it names the first line and its languages.
    """
    read = unreadable = 0
    first: Damaged | None = None  # that cannot be read
    elsewhere: Damaged | None = None  # of other languages

    def check_share() -> None:
        if first and limit and unreadable > limit * read + FEW:
            raise HeadwayError(
                f"{first.file}: {unreadable:,} of {read:,} {name} cannot be read; the first is in line"
                f" {first.line}: {first.reason}{_advise(first, languages, form)}"
            )

    with closing(pairs):
        for pair in pairs:
            if isinstance(pair, Damaged) and pair.is_elsewhere:
                elsewhere = elsewhere or pair
                yield pair
                continue
            read += 1
            if isinstance(pair, Damaged):
                unreadable += 1
                first = first or pair
                if not limit:
                    raise HeadwayError(f"{pair.error()}{_advise(pair, languages, form)}")
            if not read % INTERVAL:
                check_share()
            yield pair
    check_share()
    if elsewhere and not read:
        raise elsewhere.error()


def _advise(damaged: Damaged, languages: Languages, form: FileForm) -> str:
    """Return the way out of text that is in another encoding, or an empty string."""
    if not damaged.is_foreign:
        return ""
    if form.encoding:
        return ": give its own --encoding, or convert it to UTF-8"
    from headway.text.encodings import likely_encoding

    return f": if it is {likely_encoding(languages)}, give --encoding {likely_encoding(languages)}"


def describe_layout(
    paths: Sequence[str | Path], languages: Languages | None, form: FileForm = UTF8
) -> str:
    """Return in one line how a table, or the file of an extension, is read; an empty string for other files."""
    path = str(paths[0])
    suffix = _kind(path)
    if len(paths) > 1:
        return ""
    if suffix in (".csv", ".tsv"):
        from headway.text.tables import recognize_layout

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
    added = collect("readers", PAIRED)
    match kinds:
        case ["-"] if form.columns:
            raise HeadwayError(
                f"--columns {' '.join(form.columns)}: standard input must have lines of source, tab, target: choose"
                " the columns before, such as by awk, or give a file"
            )
        case ["-" | ".tsv" | ".csv"]:
            return _table(paths[0], kinds[0], languages, form)
        case [".jsonl"]:
            return _jsonl(paths[0], languages, form.encoding)
        case [suffix] if suffix in added:
            return _by_extension(paths[0], languages, *added[suffix])
        case [suffix]:
            owner = find_switched_off("readers", suffix)
            reason = f"{suffix} {owner}" if owner else "plain text needs two files"
            *known, last = [*PAIRED, *added]
            raise HeadwayError(
                f"{paths[0]}: {reason}; one file must be {', '.join(known)} or {last}"
            )
        case [_, _] if kinds == ["-", "-"] or not {*PAIRED, *added}.isdisjoint(kinds):
            raise HeadwayError(
                f"{paths[0]} {paths[1]}: two files must be plain text with one sentence on each line"
            )
        case [_, _]:
            return _two_files(paths[0], paths[1], form.encoding)
    raise HeadwayError(
        f"{len(paths)} files given: give one file of pairs, or a source file and a target file; several texts of a"
        " pair of languages are joined before, such as by cat"
    )


def _kind(path: str) -> str:
    return path if path == STANDARD_INPUT else plain_suffix(path).lower()


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
    from headway.text.tables import Layout, read_table, recognize_layout

    layout = Layout()  # of standard input, whose beginning cannot be read twice
    if suffix != STANDARD_INPUT:
        layout = recognize_layout(path, suffix, languages, form.columns, form.encoding)
    source, target = layout.columns
    for row in read_table(path, layout, form.encoding):
        if isinstance(row, Damaged):
            yield row
        elif layout.dialect.is_quoted:
            yield Pair(one_line(row.cells[source]), one_line(row.cells[target]), row.line)
        else:
            yield Pair(row.cells[source], row.cells[target], row.line)


def _jsonl(
    path: str, languages: Languages | None, encoding: str | None
) -> Generator[Pair | Damaged]:
    keys = [("source", "target"), *([languages] if languages else [])]
    wanted = " or ".join(f'"{source}" and "{target}"' for source, target in keys)
    advice = "" if languages else ": give --languages if the keys are language codes"
    for number, line in enumerate(scan_lines(path, encoding), 1):
        if isinstance(line, Damaged):
            yield line
        elif line.strip():
            record = _parse(line)
            if isinstance(record, str):
                yield Damaged(path, number, record)
                continue
            for names in keys[::-1]:  # languages come first
                source, target = map(record.get, names)
                if isinstance(source, str) and isinstance(target, str):
                    yield _make_pair(path, number, source, target)
                    break
            else:
                reason = f"no texts under {wanted}{advice}"
                yield Damaged(path, number, reason, is_elsewhere=languages is not None)


def _parse(line: str) -> dict[str, Any] | str:
    """Return the object of a line of JSON that has the texts, or the reason why there is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as problem:
        return f"broken JSON: {problem}"
    if isinstance(record, dict) and isinstance(record.get("translation"), dict):
        record = record["translation"]
    if not isinstance(record, dict):
        return "broken JSON: a line must be an object with source and target"
    return record


def _by_extension(
    path: str, languages: Languages | None, extension: str, target: str
) -> Generator[Pair | Damaged]:
    for number, pair in enumerate(load(extension, target)(path, languages), 1):
        match pair:
            case Pair() | Damaged():
                yield pair
            case (str(source), str(target)):
                yield _make_pair(path, number, source, target)
            case _:
                raise HeadwayError(
                    f"{path}: pair {number}: extension '{extension}' must yield tuples of two texts, not {pair!r}"
                )


def _make_pair(path: str, number: int, source: str, target: str) -> Pair | Damaged:
    if SURROGATE.search(source + target):
        return Damaged(path, number, "not Unicode: it holds half of a surrogate pair")
    return Pair(one_line(source), one_line(target), number)


def one_line(text: str) -> str:
    """Join the lines of a text with spaces, because later files have one sentence on each line."""
    if "\n" not in text and "\r" not in text:
        return text
    parts = (part.strip() for part in text.replace("\r", "\n").split("\n"))
    return " ".join(part for part in parts if part)
