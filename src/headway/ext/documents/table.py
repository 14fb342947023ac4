"""Tables in text files (.csv, .tsv): the cells of some columns are translated; quoting stays."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from headway.errors import HeadwayError, UsageError, suggest
from headway.ext.documents.edited_file import EditedFile, TextEntry
from headway.ext.documents.icu_message import read_message
from headway.ext.documents.paragraph import Document, DocumentOptions, Paragraph
from headway.ext.documents.text_file import check_count, read_text_file
from headway.text import is_translatable

_HINT = re.compile(r"sep=([^\r\n])(?:\r\n|\n|\r)")  # a line by which Excel knows the delimiter
_FORMULA = re.compile(r"\s*(?:=\s*[^\s=]|[-+@]\s*[A-Z][A-Z\d.]*\()")  # as spreadsheets read a cell
_SAMPLE = 65_536  # characters in which the first row ends
_SHOWN = 12  # names of columns in a message


@dataclass(kw_only=True, slots=True)
class _Cell(TextEntry):
    """A cell.

    Attributes:
        row: From 0.
        column: From 0.
        delimiter: What stands between cells.
        is_quoted: Whether it stands in quotes.
    """

    row: int
    column: int
    delimiter: str
    is_quoted: bool

    @property
    def paragraphs(self) -> list[Paragraph]:
        """The text."""
        return [Paragraph(self.text, place=f"cell {name_column(self.column + 1)}{self.row + 1}")]

    def write(self, text: str) -> str:
        """Return another text of the cell, in quotes if it needs them."""
        special = {self.delimiter, "\n", "\r"}
        # Inside of a bare cell some programs leave quotes bare.
        if '"' not in self.text or text.startswith('"'):
            special.add('"')
        if self.is_quoted or special & set(text):
            return '"' + text.replace('"', '""') + '"'
        return text


def read_table(data: bytes, options: DocumentOptions) -> Document:
    """Read a table.

    Args:
        data: The content of the file.
        options: The columns to translate.

    Raises:
        HeadwayError: If the columns are not named or missing, a quote is not closed, or a text has a bare delimiter.
    """
    file = read_text_file(data, options.source)
    text = file.text
    hint = _HINT.match(text)
    is_tsv = options.suffix == ".tsv"
    delimiter = hint[1] if hint else "\t" if is_tsv else _recognize_delimiter(text)
    check_count(len(re.findall(rf"[\n\r{re.escape(delimiter)}]", text)), "cells")
    cells = list(_read_cells(text, delimiter, hint.end() if hint else 0))
    if not cells:
        raise HeadwayError("is empty")
    header = [cell.text.strip() for cell in cells if cell.row == 0]
    columns, first_row = _find_columns(options.columns, header)
    for cell in cells:
        if cell.column >= len(header) and cell.text.strip():
            line = len(text[: cell.start + 1].splitlines())
            raise HeadwayError(
                f"line {line}: has more cells than the first row ({len(header)}): a text with"
                f" {delimiter!r} needs quotes, and no title or note may stand outside of the columns"
            )
    found = [
        cell
        for cell in cells
        if cell.column in columns
        and cell.row >= first_row
        and is_translatable(cell.text)
        and not _FORMULA.match(cell.text)
    ]
    return EditedFile(file, found, read=partial(read_message, language=options.target))


def name_column(number: int) -> str:
    """Return the letters that spreadsheet programs have for a column, which is numbered from 1."""
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def _recognize_delimiter(text: str) -> str:
    """Return the character that occurs most often in the first row, outside of quotes."""
    first_row = re.match(r'(?:[^"\r\n]|"[^"]*+(?:"|\Z))*+', text[:_SAMPLE])
    bare = re.sub(r'"[^"]*+"?', "", first_row[0] if first_row else "")
    return max(",;\t|", key=bare.count)


def _find_columns(given: Sequence[str], header: Sequence[str]) -> tuple[set[int], int]:
    """Return the places of the columns, and the first row to translate.

    Names mean that the first row has the names of the columns; numbers mean that it is text like the others.
    """
    columns = [column for word in given for column in _split_columns(word, header)]
    shown = ", ".join(" ".join(name.split())[:30] for name in header[:_SHOWN]) + (
        ", ..." if len(header) > _SHOWN else ""
    )
    if not columns:
        raise UsageError(
            "give the columns to translate (--columns, or the field columns), separated by commas: names if the first row has names, numbers from 1"
            f" if it is text like the others; the first row is: {shown}"
        )
    if all(column.isdecimal() and column not in header for column in columns):
        places = {int(column) - 1 for column in columns if len(column) < 9}
        if len(places) < len(columns) or not all(0 <= place < len(header) for place in places):
            raise UsageError(f"columns {','.join(columns)[:60]}: must be from 1 to {len(header)}")
        return places, 0
    for column in columns:
        if column not in header:
            hint = suggest(column, [name for name in header if name.isprintable()])
            raise UsageError(f"has no column {column[:30]!r}{hint}; the first row is: {shown}")
    return {place for place, name in enumerate(header) if name in columns}, 1


def _split_columns(word: str, header: Sequence[str]) -> list[str]:
    """Return the columns of a word, which commas separate; a name with commas is one column."""
    names = [word] if word.strip() in header else word.split(",")
    return [name.strip() for name in names if name.strip()]


def _read_cells(text: str, delimiter: str, start: int) -> Iterator[_Cell]:
    """Yield the cells of a table, which begins at a place of the file."""
    mark, row, column = re.escape(delimiter), 0, 0
    pattern = re.compile(
        rf"""(?P<cell>"(?P<quoted>(?:[^"]|"")*+)"(?={mark}|[\r\n]|\Z)|[^\r\n{mark}]*+)(?P<end>{mark}|\r\n|\n|\r|\Z)"""
    )
    for found in pattern.finditer(text, start):
        if found.start() == len(text) and not column:  # behind the last row
            return
        cell, quoted = found["cell"], found["quoted"]
        # Some programs quote no cell of a table with tabs: "Yes" and "no" is a whole cell there.
        if quoted is None and cell.startswith('"') and (cell.count('"') % 2 or delimiter != "\t"):
            raise HeadwayError(
                f'row {row + 1}: a quote is not closed, or followed by text; a quote in quotes is written ""'
            )
        means = cell if quoted is None else quoted.replace('""', '"')
        yield _Cell(
            *found.span("cell"),
            means,
            row=row,
            column=column,
            delimiter=delimiter,
            is_quoted=quoted is not None,
        )
        row, column = (row, column + 1) if found["end"] == delimiter else (row + 1, 0)
