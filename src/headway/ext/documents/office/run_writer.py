"""Writes paragraphs made of runs."""

from headway.ext.documents.office.escaping import escape_text
from headway.ext.documents.office.inline import Piece, Render, Style
from headway.ext.documents.office.run_dialect import BARE, RunDialect


class RunWriter:
    """Writes the content of a paragraph; neighboring text of one style becomes one run.

    Args:
        dialect: How the format writes paragraphs.
        prefix: The prefix of its elements, with a colon.
        render: Returns the source of a place.
    """

    def __init__(self, dialect: RunDialect, prefix: str, render: Render) -> None:
        self._dialect, self._prefix, self._render = dialect, prefix, render
        self._out: list[str] = []
        self._run: Style | None = None
        self._text = ""  # that is not written yet: a run has one text element in most formats

    def write_text(self, text: str, style: Style | None) -> None:
        """Write text."""
        self._start_run(style or Style(""))
        self._text += text

    def write_break(self, piece: Piece | None, style: Style | None) -> None:
        """Write a line break or tab."""
        if piece is None and not self._dialect.new_break:
            self.write_text("\n", style)
            return
        self._start_run((style or Style("")) if self._dialect.has_breaks_in_runs else None)
        self._write_text()
        new = self._dialect.new_break.format(self._prefix)
        self._out.append(new if piece is None else self._render(piece.start, piece.end))

    def write_piece(self, piece: Piece) -> None:
        """Write markup."""
        self._start_run(piece.style)
        self._write_text()
        self._out.append(self._render(piece.start, piece.end))

    def finish(self) -> str:
        """Return what was written."""
        self._start_run(None)
        return "".join(self._out)

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
