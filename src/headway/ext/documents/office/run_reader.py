"""Reads paragraphs made of runs: text with properties, as in word processing, slides and cells."""

import html
import re

from headway.ext.documents.office.fields import FieldMark, join_fields, shows_text
from headway.ext.documents.office.inline import InlineParagraph, Part, Piece, Style
from headway.ext.documents.office.inline_reading import make_paragraph
from headway.ext.documents.office.run_dialect import BARE, RunDialect
from headway.ext.documents.xml_tokens import XmlToken

_NUMBER = re.compile(r"""\s(?:\w+:)?id=(?:"[^"]*"|'[^']*')""")


class RunReader:
    """Reads the tokens of a paragraph; those of paragraphs in it are left out.

    Args:
        dialect: How the format writes paragraphs.
        opening: The opening tag of the paragraph.
        source: The source of the part.
    """

    def __init__(self, dialect: RunDialect, opening: XmlToken, source: str) -> None:
        self._dialect, self._source = dialect, source
        self.start, self.end = opening.end, -1  # of the content
        self.prefix = opening.prefix
        self._parts: list[Part | FieldMark] = []
        self._depth, self._opened = 0, opening  # an element that is read as a whole
        self._inner: list[str] = []  # the text in it
        self._style: Style | None = None  # of the run that is open
        self._outer: list[Style | None] = []  # around it: a word with a reading has runs in a run
        self._text: list[str] | None = None  # of the text element that is open
        self._holder_end = -1

    @property
    def is_inside(self) -> bool:
        """Whether the next token is in an element that is read as a whole, which may hold paragraphs."""
        return self._depth > 0

    def feed(self, token: XmlToken) -> None:
        """Read the next token."""
        if self._depth:
            self._depth += {"open": 1, "close": -1}.get(token.kind, 0)
            if token.kind in ("text", "data"):
                self._inner.append(token.text)
            if self._depth == 0:
                self._add(self._opened, token.end)
        elif token.kind in ("text", "data"):
            if self._text is not None:
                self._text.append(token.text)
        elif token.kind == "close":
            self._close(token)
        elif token.kind in ("open", "empty"):
            self._open(token)

    def _open(self, token: XmlToken) -> None:
        dialect, name, is_open = self._dialect, token.name, token.kind == "open"
        if name == "r":
            if is_open:
                self._outer.append(self._style)
                self._style = Style("")
        elif name == "t":
            self._text = [] if is_open else None
            self._opened = token
        elif is_open and name in dialect.wrappers:
            is_kept = name in dialect.kept and not shows_text(
                token.attributes.get(f"{self.prefix}instr", "")
            )
            key = "" if is_kept or name in dialect.described else token.source
            if name in dialect.numbered:
                key = _NUMBER.sub("", key)
            pieces = (Piece(token.start, token.end),)
            self._parts.append(Part("open", pieces, name=name, is_kept=is_kept, key=key))
        elif name in dialect.transparent or (name in dialect.holders and self._attach(token.end)):
            pass  # nothing more to do
        elif is_open:
            self._opened, self._depth, self._inner = token, 1, []
        else:
            self._inner = []
            self._add(token, token.end)

    def _close(self, token: XmlToken) -> None:
        if token.name == "r":
            self._style = self._outer.pop()
        elif token.name == "t" and self._text is not None:
            text = self._dialect.read("".join(self._text))
            if self._dialect.is_trimmed and "preserve" not in self._opened.source:
                text = text.strip(" \t\r\n")
            style = self._style or Style(BARE)
            self._parts.append(Part("text", (Piece(self._opened.start, token.end, style),), text))
            self._text = None
        elif token.name in self._dialect.holders:
            self._holder_end = token.start
        elif token.name in self._dialect.wrappers:
            start = token.start if self._holder_end < 0 else self._holder_end
            self._holder_end = -1
            self._parts.append(Part("close", (Piece(start, token.end),), name=token.name))

    def _add(self, opening: XmlToken, end: int) -> None:
        """Add an element that is read as a whole."""
        dialect, name = self._dialect, opening.name
        piece = Piece(opening.start, end, self._style)
        if name == "rPr" and self._style is not None:
            key = dialect.normalize(self._source[opening.start : end])
            self._style = Style(key, opening.start, end)
        elif name in dialect.heads:
            self.start = end
        elif name in dialect.tails:
            self.end = opening.start
        elif name in dialect.dropped or (name in dialect.attached and self._attach(end)):
            pass  # nothing more to do
        elif name in dialect.breaks:
            self._parts.append(Part("break", (piece,)))
        elif name == "fldChar":
            self._parts.append(FieldMark(piece, opening.attributes.get(f"{self.prefix}fldCharType", "")))  # fmt: skip
        elif name == "instrText":
            self._parts.append(FieldMark(piece, "", "".join(self._inner)))
        elif character := dict(dialect.characters).get(name):
            style = self._style or Style("")
            self._parts.append(Part("text", (Piece(opening.start, end, style),), character))
        elif name.removesuffix("Start") in dialect.ranges:
            self._parts.append(Part("open", (piece,), name=_name_range(opening), is_element=False))
        elif name.removesuffix("End") in dialect.ranges:
            self._parts.append(Part("close", (piece,), name=_name_range(opening), is_element=False))
        elif name == "fld":
            self._add_kept(piece, self._read_field(opening, end))
        elif name in dialect.formulas:
            self._add_kept(piece, " ".join("".join(self._inner).split()))
        else:
            self._parts.append(Part("point", (piece,)))

    def _attach(self, end: int) -> bool:
        """Add what describes a wrapper to its opening tag, if the wrapper has just been opened."""
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, Part) or last.kind != "open" or not last.is_element:
            return False
        self._parts[-1] = last._replace(pieces=(Piece(last.pieces[0].start, end),))
        return True

    def _read_field(self, opening: XmlToken, end: int) -> str:
        """Return the text of a field of a slide, such as its number."""
        source = self._source[opening.start : end]
        found = re.search(r"<[^<>]*\bt>([^<>]*)</[^<>]*>\s*</[^<>]*>$", source)
        return html.unescape(found[1]) if found else ""

    def _add_kept(self, piece: Piece, text: str) -> None:
        """Add an element with a text that stays as it is, such as a formula or a field."""
        middle = Piece(piece.end, piece.end)
        self._parts += [
            Part("open", (piece,), name="kept", is_kept=True),
            Part("text", (middle,), text),
            Part("close", (middle,), name="kept"),
        ]

    def finish(self, closing: XmlToken) -> InlineParagraph:
        """Return the paragraph."""
        if self.end < 0:
            self.end = closing.start
        return make_paragraph(join_fields(self._parts))


def _name_range(token: XmlToken) -> str:
    name = token.name.removesuffix("Start").removesuffix("End")
    number = [value for key, value in token.attributes.items() if key.rpartition(":")[2] == "id"]
    return f"{name} {''.join(number)}"
