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
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from headway.errors import HeadwayError, suggest
from headway.text.languages import NAMES, name_of
from headway.text.lines import Damaged, scan_lines

SAMPLE = 200  # lines by which the layout is recognized
MOST_LINES = 100  # lines of a row; where a cell seems longer, a quote is not closed
SHOWN = 30  # characters of a cell in a message
DELIMITERS = {"\t": "tabs", ";": "semicolons", ",": "commas"}
# Words that name a column, besides languages, and words that may stand beside them.
ROLES = ({"source", "src", "original"}, {"target", "tgt", "translation"})
BESIDE = {"column", "language", "segment", "sentence", "text"}

_SEPARATOR = re.compile("sep=([\t;,])")
_QUOTED = re.compile(r'(?<![^\t\n])"((?:[^"]|"")*+)"(?![^\t\n])')
_UNCLOSED = re.compile(r'(?<![^\t\n])"(?:[^"]|"")*+\Z')
_WORD = re.compile(r"[^\W_]+")
_NEEDS_QUOTES = re.compile(r'["\t\n,;]')


@dataclass(frozen=True)
class Layout:
    """How the rows of a table are written.

    Args:
        delimiter: The character between cells.
        is_quoted: Whether quotes enclose cells.
        width: The number of cells of a row.
        columns: The places of source and target in a row, from 0.
        header: The first row, if it holds the names of the columns.
        first: The first row, if it seems to hold no names.
        has_separator_line: Whether the first line names the delimiter, as Excel writes it: ``sep=;``.
    """

    delimiter: str = "\t"
    is_quoted: bool = False
    width: int = 2
    columns: tuple[int, int] = (0, 1)
    header: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    has_separator_line: bool = False

    def __str__(self) -> str:
        names = [self.first[i].strip() for i in self.columns if i < len(self.first)]
        shown = [shlex.quote(name) for name in names if len(name) <= SHOWN and "\n" not in name]
        way = " ".join(["--columns", *(shown if len(shown) == len(self.columns) else ())])
        source, target = (self.header[i].strip() if self.header else i + 1 for i in self.columns)
        return (
            f"{self.width} columns separated by {DELIMITERS[self.delimiter]},"
            f" {'cells may be in quotes' if self.is_quoted else 'quotes are text'},"
            f" {'the first row is a header' if self.header else f'no header (if there is one: {way})'};"
            f" source: {source}, target: {target}"
        )


class Row(NamedTuple):
    """A row of a table.

    Args:
        line: The line of the file where the row begins, from 1.
        cells: Its cells; those in quotes may contain line breaks.
    """

    line: int
    cells: tuple[str, ...]


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
        HeadwayError: If the columns of source and target are unknown.
    """
    sample = list(islice(scan_lines(path, encoding), SAMPLE))
    lines = [line for line in sample if isinstance(line, str)]
    if separator := find_separator(lines):
        del lines[0]
    if suffix == ".csv":
        delimiter, is_quoted = separator or find_delimiter(lines), True
    else:
        delimiter, is_quoted = "\t", has_quoted_cells(lines, is_whole=len(sample) < SAMPLE)
    rows = read_rows(path, lines, delimiter, is_quoted)
    cells = [row.cells for row in rows if isinstance(row, Row)]
    width = max(2, Counter(map(len, cells)).most_common(1)[0][0] if cells else 0)
    first = cells[0] if cells else ()
    named = find_named_columns(first, languages)
    layout = Layout(delimiter, is_quoted, width, first=first, has_separator_line=bool(separator))
    if columns and all(column.isdecimal() for column in columns):
        chosen = int(columns[0]) - 1, int(columns[1]) - 1
        if not all(0 <= place < width for place in chosen):
            raise HeadwayError(f"{path}: --columns {' '.join(columns)}: must be from 1 to {width}")
        if not named:
            _refuse_other_languages(path, [first[i] for i in chosen if i < len(first)], languages)
        return replace(layout, columns=chosen, header=first if named else ())
    if columns:
        chosen = (_place(path, columns[0], first), _place(path, columns[1], first))
        return replace(layout, columns=chosen, header=first)
    if named:
        return replace(layout, columns=named, header=first)
    if width > 2:
        shown = ", ".join(cell.strip()[:SHOWN] for cell in first)
        raise HeadwayError(
            f"{path}:1: {width} columns ({shown}): give --columns SOURCE TARGET, as names in the first"
            " row or numbers from 1"
        )
    _refuse_other_languages(path, first, languages)
    return layout


def read_table(path: str, layout: Layout, encoding: str | None = None) -> Iterator[Row | Damaged]:
    """Yield the rows of a table, without header and empty lines; each has the layout's width."""
    rows = read_rows(path, scan_lines(path, encoding), layout.delimiter, layout.is_quoted)
    header = layout.header
    for row in rows:
        if row.line == 1 and layout.has_separator_line:
            continue
        if isinstance(row, Damaged):
            yield row
        elif header and row.cells == header:
            header = ()
        elif len(row.cells) == layout.width:
            yield row
        else:
            yield Damaged(path, row.line, f"{len(row.cells)} columns, not {layout.width}")


def read_rows(
    path: str, lines: Iterable[str | Damaged], delimiter: str, is_quoted: bool
) -> Iterator[Row | Damaged]:
    """Yield the rows that lines hold, without empty lines.

    Args:
        path: The file, for messages.
        lines: Its lines from the first.
        delimiter: The character between cells.
        is_quoted: Whether quotes enclose cells.
    """
    if is_quoted:
        rows = _read_quoted_rows(path, lines, delimiter)
    else:
        rows = (
            line if isinstance(line, Damaged) else Row(number, tuple(line.split(delimiter)))
            for number, line in enumerate(lines, 1)
        )
    for row in rows:
        if isinstance(row, Damaged) or len(row.cells) > 1 or "".join(row.cells).strip():
            yield row


def _read_quoted_rows(
    path: str, lines: Iterable[str | Damaged], delimiter: str
) -> Iterator[Row | Damaged]:
    """Yield the rows of a table with quoting; after a damaged row, the next line begins a new row."""
    numbered = enumerate(lines, 1)
    waiting: deque[tuple[int, str | Damaged]] = deque()
    while True:
        waiting.extend(islice(numbered, MOST_LINES - len(waiting)))
        if not waiting:
            return
        number, line = waiting.popleft()
        if isinstance(line, Damaged):
            yield line
            continue
        count = 0  # further lines of the row
        row = _split(path, number, line, delimiter)
        while row is None and count < len(waiting):
            following = waiting[count][1]
            if isinstance(following, Damaged):
                break
            line, count = f"{line}\n{following}", count + 1
            row = _split(path, number, line, delimiter)
        if isinstance(row, Row):
            for _ in range(count):
                waiting.popleft()
        yield row or Damaged(path, number, "a quote opens a cell and does not close it")


def _split(path: str, number: int, text: str, delimiter: str) -> Row | Damaged | None:
    """Split the text of a row into cells; None: a cell continues on the next line."""
    try:
        return Row(number, tuple(next(csv.reader([text], delimiter=delimiter, strict=True))))
    except csv.Error as problem:
        if str(problem) == "unexpected end of data":
            return None
        if "\r" in text:
            return Damaged(
                path, number, "a carriage return in a row: its lines must end with \\n or \\r\\n"
            )
        return Damaged(path, number, f"quotes are not as in CSV: {problem}")


def find_separator(lines: Sequence[str]) -> str:
    """Return the delimiter that the first line names, as Excel writes it (``sep=;``); otherwise an empty string."""
    found = _SEPARATOR.fullmatch(lines[0]) if lines else None
    return found[1] if found else ""


def find_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that splits most rows into the same number of cells, at least two."""

    def count_rows(delimiter: str) -> int:
        rows = _read_quoted_rows("", lines, delimiter)
        widths = Counter(len(row.cells) for row in rows if isinstance(row, Row))
        return max((count for width, count in widths.items() if width > 1), default=0)

    return max(DELIMITERS, key=count_rows)  # of equals the first, which is the rarer one in text


def has_quoted_cells(lines: Sequence[str], is_whole: bool, *, may_mix: bool = False) -> bool:
    """Return whether quotes enclose cells in lines with tabs, as spreadsheet programs write them.

    They do if no quote is elsewhere, and if quotes enclose all cells, or only those that need them. In the
    second case, one cell must show it as a quotation of a corpus cannot: a quote inside is doubled, or
    without its tabs and line breaks more lines have the same number of cells.

    Args:
        lines: The first lines of a table, or all of them.
        is_whole: Whether they are all.
        may_mix: Whether quotes may enclose any cells. In a corpus, some sentences are quotations.
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


def _refuse_other_languages(
    path: str, cells: Sequence[str], languages: tuple[str, str] | None
) -> None:
    """Check that the first cells of the columns do not name two languages that are not those of the text.

    Raises:
        HeadwayError: If they do.
    """
    names = [cell.strip() for cell in cells]
    if not languages or not (named := find_other_languages(names, languages)):
        return
    raise HeadwayError(
        f"{path}:1: the first row names {names[0]} and {names[1]}, and the text is {languages[0]} and {languages[1]}: give"
        f" --languages {named[0]} {named[1]}, or --columns {names[0]} {names[1]} if these columns are meant all the same"
    )


def _words(name: str) -> list[str]:
    return _WORD.findall(name.casefold())


def _place(path: str, name: str, first: Sequence[str]) -> int:
    names = [cell.strip() for cell in first]
    if name not in names:
        raise HeadwayError(
            f"{path}:1: --columns: no column '{name}'{suggest(name, names)}; the first row has"
            f" {', '.join(names) or 'nothing'}"
        )
    return names.index(name)
