"""Writes paragraphs made of runs."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headway.ext.documents.office.inline import ContentWriter, Render, SourceSpan, Style
from headway.ext.documents.xml_tokens import escape_text

BARE = "bare"  # the style of text that stands in no run, in a cell
_SPACE = re.compile(r"[\t\n\r]")


@dataclass(frozen=True)
class RunDialect:
    """How a format writes paragraphs.

    Attributes:
        normalize: Returns the key of a run's properties.
        roles: What elements are, by their names: a "break" is a line break or tab; a "head" or a "tail" stands before or
            behind the content; a "wrapper" stands around runs, its content in a "holder", and what is "attached" to it
            describes it; of a "transparent" element around runs or text a translation lacks the tags; a "formula" stays as
            it is, and stands for a word; a "hyphen" is one; what is "dropped" says nothing about a translation.
        new_break: How a new line break is written, ``{0}`` being the prefix; "": as a character.
        has_breaks_in_runs: Whether a line break stands in a run.
        described: Wrappers with attached elements.
        numbered: Wrappers whose identifiers differ where nothing else does.
        kept: Wrappers that are fields: their text stays unless it is text of the document.
        ranges: Names of pairs of elements that mark a range.
        is_trimmed: Whether space at the ends of a text counts only with ``xml:space="preserve"``.
        read: Returns what the characters of a text mean.
        write: Returns the characters of a text.
    """

    normalize: Callable[[str], str]
    roles: Mapping[str, str]
    new_break: str = ""
    has_breaks_in_runs: bool = True
    described: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    ranges: frozenset[str] = frozenset()
    is_trimmed: bool = True
    read: Callable[[str], str] = lambda text: _SPACE.sub(" ", text)
    write: Callable[[str], str] = lambda text: text


class RunWriter(ContentWriter):
    """Writes the content of a paragraph; neighboring text of one style becomes one run.

    Args:
        dialect: How the format writes paragraphs.
        prefix: The prefix of its elements, with a colon.
        render: Returns the source of a place.
    """

    def __init__(self, dialect: RunDialect, prefix: str, render: Render) -> None:
        super().__init__(prefix, render)
        self._dialect, self.new_break = dialect, dialect.new_break
        self._run: Style | None = None
        self._text = ""  # that is not written yet: a run has one text element in most formats

    def write_text(self, text: str, style: Style | None) -> None:
        """Write text."""
        self._start_run(style or Style(""))
        self._text += text

    def write_break(self, piece: SourceSpan | None, style: Style | None) -> None:
        """Write a line break or tab."""
        if piece is None and not self._dialect.new_break:
            self.write_text("\n", style)
            return
        self._start_run((style or Style("")) if self._dialect.has_breaks_in_runs else None)
        self._write_text()
        super().write_break(piece, style)

    def write_piece(self, piece: SourceSpan) -> None:
        """Write markup."""
        self._start_run(piece.style)
        self._write_text()
        super().write_piece(piece)

    def finish(self) -> str:
        """Return what was written."""
        self._start_run(None)
        return super().finish()

    def _write_text(self) -> None:
        if self._text:
            is_marked = self._dialect.is_trimmed and self._text != self._text.strip()
            space = ' xml:space="preserve"' if is_marked else ""
            written = self._dialect.write(escape_text(self._text))
            self._out.append(f"<{self._prefix}t{space}>{written}</{self._prefix}t>")
            self._text = ""

    def _start_run(self, style: Style | None) -> None:
        """Continue the run, or end it and start another one; None: only end it."""
        if style is not None and self._run is not None and style.key == self._run.key:
            return
        self._write_text()
        if self._run is not None and self._run.key != BARE:
            self._out.append(f"</{self._prefix}r>")
        self._run = style
        if style is not None and style.key != BARE:
            self._out.append(f"<{self._prefix}r>{self._render(style.start, style.end)}")
