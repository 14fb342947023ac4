"""Tables of sentence pairs (.csv, .tsv), as corpora and spreadsheet programs write them.

A cell in quotes may contain delimiters and line breaks, and a quote inside is doubled. In a .csv file
quotes always have this meaning. In a .tsv file they have it only if the first lines show it, because
corpora are often written without quoting, and a quote is a character of the text there.
"""

import csv
import re
import shlex
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from headway.errors import HeadwayError, UsageError, suggest
from headway.text.languages import NAMES, name_of
from headway.text.lines import Damaged, scan_lines

SAMPLE = 200  # lines by which the layout is recognized
MOST_LINES = 100  # lines of a row; where a cell seems longer, a quote is not closed
SHOWN = 30  # characters of a cell in a message
DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
# Words that name a column, besides languages, and words that may stand beside them.
ROLES = ({"source", "src", "original"}, {"target", "tgt", "translation"})
BESIDE = {"column", "language", "segment", "sentence", "text"}

Numbered = tuple[int, str | Damaged]  # the number of a line, from 1, and the line

_SEPARATOR = re.compile("sep=([\t;,])")
_QUOTED = re.compile(r'(?<![^\t\n])"((?:[^"]|"")*+)"(?![^\t\n])')
_UNCLOSED = re.compile(r'(?<![^\t\n])"(?:[^"]|"")*+\Z')
_WORD = re.compile(r"[^\W_]+")
_NEEDS_QUOTES = re.compile(r'["\t\n,;]')


class Row(NamedTuple):
    """A row of a table.

    Args:
        line: The line of the file where the row begins, from 1.
        cells: Its cells; those in quotes may contain line breaks.
    """

    line: int
    cells: tuple[str, ...]


class Dialect(NamedTuple):
    """How lines hold the cells of rows.

    Args:
        delimiter: The character between cells.
        is_quoted: Whether quotes enclose cells.
        has_separator: Whether the first line names the delimiter, as Excel writes it: ``sep=;``.
    """

    delimiter: str = "\t"
    is_quoted: bool = False
    has_separator: bool = False


TABS = Dialect()


@dataclass(frozen=True)
class Layout:
    """Where source and target are in a table.

    Args:
        dialect: How its lines hold the cells.
        width: The number of cells of a row.
        columns: The places of source and target in a row, from 0.
        first: The first row.
        is_header: Whether that holds the names of the columns.
    """

    dialect: Dialect = TABS
    width: int = 2
    columns: tuple[int, int] = (0, 1)
    first: tuple[str, ...] = ()
    is_header: bool = False

    def __str__(self) -> str:
        names = [self.first[place].strip() for place in self.columns if place < len(self.first)]
        source, target = names if self.is_header else (place + 1 for place in self.columns)
        shown = [shlex.quote(name) for name in names if len(name) <= SHOWN and "\n" not in name]
        way = " ".join(["--columns", *(shown if len(shown) == len(self.columns) else ())])
        return (
            f"{self.width} columns separated by {DELIMITERS[self.dialect.delimiter]},"
            f" {'cells may be in quotes' if self.dialect.is_quoted else 'quotes are text'},"
            f" {'the first row is a header' if self.is_header else f'no header (if there is one: {way})'};"
            f" source: {source}, target: {target}"
        )


def recognize_layout(
    path: str,
    suffix: str,
    languages: tuple[str, str] | None = None,
    columns: tuple[str, str] | None = None,
    encoding: str | None = None,
) -> Layout:
    """Recognize the layout of a table by its first lines.

    Args:
        path: The file.
        suffix: ".csv" or ".tsv".
        languages: Codes of source and target, by which a header is recognized.
        columns: Source and target, as names in the first row or numbers from 1.
        encoding: As for `scan_lines`.

    Raises:
        HeadwayError: If the columns of source and target are unknown, or the first row names other languages.
    """
    sample = list(islice(scan_lines(path, encoding), SAMPLE))
    lines = [line for line in sample if isinstance(line, str)]
    dialect = recognize_dialect(lines, suffix, is_whole=len(sample) < SAMPLE)
    cells = [row.cells for row in read_rows(path, lines, dialect) if isinstance(row, Row)]
    width = max(2, Counter(map(len, cells)).most_common(1)[0][0] if cells else 0)
    first = cells[0] if cells else ()
    named = find_named_columns(first, languages)
    is_header = named is not None
    if columns and all(column.isdecimal() for column in columns):
        source, target = (int(column) - 1 for column in columns)
        if not (0 <= source < width and 0 <= target < width):
            raise HeadwayError(f"{path}: --columns {' '.join(columns)}: must be from 1 to {width}")
    elif columns:
        source, target = (_place(path, column, first) for column in columns)
        is_header = True
    elif named:
        source, target = named
    elif width > 2:
        shown = ", ".join(cell.strip()[:SHOWN] for cell in first)
        raise HeadwayError(
            f"{path}:1: {width} columns ({shown}): give --columns SOURCE TARGET, as names in the first"
            " row or numbers from 1"
        )
    else:
        source, target = 0, 1
    names = [first[place].strip() for place in (source, target) if place < len(first)]
    if languages and not is_header and (other := find_other_languages(names, languages)):
        raise HeadwayError(
            f"{path}:1: the first row names {names[0]} and {names[1]}, and the text is {languages[0]} and {languages[1]}: give"
            f" --languages {other[0]} {other[1]}, or --columns {names[0]} {names[1]} if these columns are meant all the same"
        )
    return Layout(dialect, width, (source, target), first, is_header)


def read_table(path: str, layout: Layout, encoding: str | None = None) -> Iterator[Row | Damaged]:
    """Yield the rows of a table, without header and empty lines; each has the layout's width."""
    is_header_next = layout.is_header
    for row in read_rows(path, scan_lines(path, encoding), layout.dialect):
        if isinstance(row, Damaged):
            yield row
        elif is_header_next and row.cells == layout.first:
            is_header_next = False
        elif len(row.cells) == layout.width:
            yield row
        else:
            yield Damaged(path, row.line, f"{len(row.cells)} columns, not {layout.width}")


def recognize_dialect(
    lines: Sequence[str], suffix: str, *, is_whole: bool, may_mix: bool = False
) -> Dialect:
    """Recognize how lines hold the cells of rows.

    Args:
        lines: The first lines of a table, or all of them.
        suffix: ".csv", in which quotes always enclose cells, or another one: the lines have tabs.
        is_whole: Whether they are all.
        may_mix: Whether quotes may enclose any cells. In a corpus with tabs, some sentences are quotations.
    """
    found = _SEPARATOR.fullmatch(lines[0]) if lines else None
    rest = [line for line in lines[bool(found) :] if line]
    if suffix != ".csv":
        return Dialect("\t", _has_quoted_cells(rest, is_whole, may_mix), bool(found))
    return Dialect(found[1] if found else _find_delimiter(rest[:SAMPLE]), True, bool(found))


def read_rows(
    path: str, lines: Iterable[str | Damaged], dialect: Dialect
) -> Iterator[Row | Damaged]:
    """Yield the rows that lines hold, without empty lines.

    Args:
        path: The file, for messages.
        lines: Its lines from the first.
        dialect: How they hold the cells.
    """
    numbered = enumerate(lines, 1)
    if dialect.has_separator:
        next(numbered)
    rows: Iterator[Row | Damaged]
    if dialect.is_quoted:
        rows = _read_quoted_rows(path, numbered, dialect.delimiter)
    else:
        rows = (
            line if isinstance(line, Damaged) else Row(number, tuple(line.split(dialect.delimiter)))
            for number, line in numbered
        )
    for row in rows:
        if isinstance(row, Damaged) or len(row.cells) > 1 or "".join(row.cells).strip():
            yield row


def _read_quoted_rows(
    path: str, numbered: Iterator[Numbered], delimiter: str
) -> Iterator[Row | Damaged]:
    """Yield the rows of numbered lines with quoting; after a damaged row, the next line begins a new row."""
    again: deque[Numbered] = deque()  # lines that are read once more
    row: list[Numbered] = []  # its lines

    def feed() -> Iterator[str]:
        """Yield the lines before a damaged one, and of a row as many as there may be."""
        while len(row) < MOST_LINES and (
            item := again.popleft() if again else next(numbered, None)
        ):
            if isinstance(item[1], Damaged):
                again.appendleft(item)
                return
            row.append(item)
            yield f"{item[1]}\n"

    while True:
        row.clear()
        try:
            for cells in csv.reader(feed(), delimiter=delimiter, strict=True):
                yield Row(row[0][0], tuple(cells))
                row.clear()
        except csv.Error as problem:
            yield Damaged(path, row[0][0], _explain(problem, "".join(str(line) for _, line in row)))
            again.extendleft(reversed(row[1:]))
            continue
        if not again:
            return
        damaged = again.popleft()[1]
        assert isinstance(damaged, Damaged)
        yield damaged


def _explain(problem: csv.Error, text: str) -> str:
    """Return what is wrong with the lines of a row."""
    if str(problem) == "unexpected end of data":
        return "a quote opens a cell and does not close it"
    if "\r" in text:
        return "a carriage return in a row: its lines must end with \\n or \\r\\n"
    return f"quotes are not as in CSV: {problem}"


def _find_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that splits most rows into the same number of cells, at least two."""

    def count_rows(delimiter: str) -> int:
        rows = _read_quoted_rows("", enumerate(lines, 1), delimiter)
        widths = Counter(len(row.cells) for row in rows if isinstance(row, Row))
        return max((count for width, count in widths.items() if width > 1), default=0)

    return max(DELIMITERS, key=count_rows)  # of equals the first, which is the rarer one in text


def _has_quoted_cells(lines: Sequence[str], is_whole: bool, may_mix: bool) -> bool:
    """Return whether quotes enclose cells in lines with tabs, as spreadsheet programs write them.

    They do if no quote is elsewhere, and if quotes enclose all cells, or only those that need them. In the
    second case, one cell must show it as a quotation of a corpus cannot: a quote inside is doubled, or
    without its tabs and line breaks more lines have the same number of cells.
    """
    text = "\n".join(lines)
    cells, outside = _QUOTED.findall(text), _QUOTED.sub("", text)
    # The last cell may go on after the sample.
    rest = outside if is_whole else _UNCLOSED.sub("", outside)
    if not cells or '"' in rest:
        return False
    if may_mix or not rest.strip():
        return True
    is_shown = any('"' in cell for cell in cells) or _count_ragged(outside) < _count_ragged(text)
    return is_shown and all(_NEEDS_QUOTES.search(cell) for cell in cells)


def _count_ragged(text: str) -> int:
    """Return how many lines have another number of tabs than most."""
    tabs = Counter(line.count("\t") for line in text.split("\n") if line.strip())
    return tabs.total() - max(tabs.values(), default=0)


def find_named_columns(
    first: Sequence[str], languages: tuple[str, str] | None
) -> tuple[int, int] | None:
    """Return the columns that a header names by language, or as source and target."""
    places = []
    for code, words in zip(languages or ("", ""), ROLES, strict=True):
        wanted = words | {*_words(code)[:1], *_words(name_of(code))}
        prefix = code.casefold().replace("_", "-") + "-"
        cells = [{*_words(cell)} for cell in first]
        exact = [i for i, cell in enumerate(cells) if cell and cell <= wanted]
        others = [
            i
            for i, cell in enumerate(cells)
            if (code and first[i].strip().casefold().replace("_", "-").startswith(prefix))
            or (not wanted.isdisjoint(cell) and wanted | BESIDE >= cell)
        ]
        places.append(next(iter([*exact, *others]), -1))
    source, target = places
    return None if -1 in places or source == target else (source, target)


def find_other_languages(names: Sequence[str], wanted: tuple[str, str]) -> list[str]:
    """Return the codes of the two languages that two cells name, if these are not the wanted ones; otherwise an empty list.

    Two short words, such as "it" and "es", may be a pair of sentences. They are names if one is a wanted language.
    """
    codes = {word.casefold(): code for code, name in NAMES.items() for word in (code, name)}
    named = [codes[name.casefold()] for name in names if name.casefold() in codes]
    if len(names) != 2 or len(named) != 2 or named[0] == named[1] or not all(wanted):
        return []
    if set(named).isdisjoint(wanted) and any(name.casefold() in NAMES for name in names):
        return []
    return named


def _words(name: str) -> list[str]:
    return _WORD.findall(name.casefold())


def _place(path: str, name: str, first: Sequence[str]) -> int:
    names = [cell.strip() for cell in first]
    if name not in names:
        raise UsageError(
            f"{path}:1: --columns: no column '{name}'{suggest(name, names)}; the first row has"
            f" {', '.join(names) or 'nothing'}"
        )
    return names.index(name)
