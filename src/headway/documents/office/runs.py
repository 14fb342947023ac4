"""Paragraphs made of runs: text with properties, as in word processing, slides and cells of Office Open XML."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass

from headway.documents.office.fields import FieldMark, join_fields
from headway.documents.office.inline import (
    InlineParagraph,
    Part,
    Piece,
    Render,
    Style,
    make_paragraph,
    write_paragraph,
)
from headway.documents.paragraph import Translated
from headway.documents.xml_tokens import XmlToken

BARE = "bare"  # the style of text that stands in no run, in a cell
_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NUMBER = re.compile(r"""\s(?:\w+:)?id=(?:"[^"]*"|'[^']*')""")
_SPACE = re.compile(r"[\t\n\r]")


@dataclass(frozen=True)
class RunDialect:
    """How a format writes paragraphs.

    Attributes:
        breaks: Elements that are line breaks or tabs.
        new_break: How a new line break is written, ``{0}`` being the prefix; "": as a character.
        has_breaks_in_runs: Whether a line break stands in a run.
        dropped: Elements that say nothing about a translation, such as marks of the spelling check.
        heads: Elements before the content.
        tails: Elements behind the content.
        wrappers: Elements around runs.
        holders: Elements in wrappers that hold the content.
        attached: Elements that describe the wrapper around them.
        described: Wrappers with such elements.
        numbered: Wrappers whose identifiers differ where nothing else does.
        ranges: Names of pairs of elements that mark a range.
        kept: Wrappers whose text stays as it is.
        characters: Elements that are written as a character.
        is_trimmed: Whether space at the ends of a text counts only with ``xml:space="preserve"``.
        normalize: Return the key of a run's properties.
        read: Return what the characters of a text mean.
        write: Return the characters of a text.
    """

    normalize: Callable[[str], str]
    breaks: frozenset[str] = frozenset()
    new_break: str = ""
    has_breaks_in_runs: bool = True
    dropped: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()
    tails: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    holders: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    described: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    ranges: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    characters: tuple[tuple[str, str], ...] = ()
    is_trimmed: bool = True
    read: Callable[[str], str] = lambda text: _SPACE.sub(" ", text)
    write: Callable[[str], str] = lambda text: text

    def read_paragraph(self, opening: XmlToken, source: str) -> "RunReader":
        """Return a reader of the paragraph that begins with a tag."""
        return RunReader(self, opening, source)

    def write_paragraph(
        self, paragraph: InlineParagraph, translated: Translated, prefix: str, render: Render
    ) -> str:
        """Return the content of a paragraph in its translation."""
        writer = RunWriter(self, prefix, render)
        write_paragraph(paragraph, translated, writer)
        return writer.finish()


def escape_text(text: str) -> str:
    """Return the source of a text in XML, without characters that XML cannot have."""
    return html.escape(_INVALID.sub("", text), quote=False)


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
        self._style: Style | None = None  # of the run that is open
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
            if token.kind in ("text", "data") and self._opened.name == "instrText":
                self._instruction += token.text
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
            self._style = Style("") if is_open else None
        elif name == "t":
            self._text = [] if is_open else None
            self._opened = token
        elif is_open and name in dialect.wrappers:
            is_kept = name in dialect.kept and not _is_link(token)
            key = "" if is_kept or name in dialect.described else token.source
            if name in dialect.numbered:
                key = _NUMBER.sub("", key)
            pieces = (Piece(token.start, token.end),)
            self._parts.append(Part("open", pieces, name=name, is_kept=is_kept, key=key))
        elif name in dialect.holders and self._attach(token.end):
            pass
        elif is_open:
            self._opened, self._depth, self._instruction = token, 1, ""
        else:
            self._instruction = ""
            self._add(token, token.end)

    def _close(self, token: XmlToken) -> None:
        if token.name == "r":
            self._style = None
        elif token.name == "t" and self._text is not None:
            text = self._dialect.read("".join(self._text))
            if self._dialect.is_trimmed and "preserve" not in self._opened.source:
                text = text.strip()
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
            self._parts.append(FieldMark(piece, "", self._instruction))
        elif character := dict(dialect.characters).get(name):
            style = self._style or Style("")
            self._parts.append(Part("text", (Piece(opening.start, end, style),), character))
        elif name.removesuffix("Start") in dialect.ranges:
            self._parts.append(Part("open", (piece,), name=_name_range(opening), is_element=False))
        elif name.removesuffix("End") in dialect.ranges:
            self._parts.append(Part("close", (piece,), name=_name_range(opening), is_element=False))
        elif name == "fld":
            self._add_field(opening, end)
        else:
            self._parts.append(Part("point", (piece,)))

    def _attach(self, end: int) -> bool:
        """Add what describes a wrapper to its opening tag, if the wrapper has just been opened."""
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, Part) or last.kind != "open" or not last.is_element:
            return False
        self._parts[-1] = last._replace(pieces=(Piece(last.pieces[0].start, end),))
        return True

    def _add_field(self, opening: XmlToken, end: int) -> None:
        """Add a field of a slide, whose text stays."""
        source = self._source[opening.start : end]
        found = re.search(r"<[^<>]*\bt>([^<>]*)</[^<>]*>\s*</[^<>]*>$", source)
        text = html.unescape(found[1]) if found else ""
        middle = Piece(end, end)
        self._parts += [
            Part("open", (Piece(opening.start, end),), name="fld", is_kept=True),
            Part("text", (middle,), text),
            Part("close", (middle,), name="fld"),
        ]

    def finish(self, closing: XmlToken) -> InlineParagraph:
        """Return the paragraph."""
        if self.end < 0:
            self.end = closing.start
        return make_paragraph(join_fields(self._parts))


def _is_link(token: XmlToken) -> bool:
    """Return whether an element with a field in an attribute is a link, whose text is translated."""
    return any("HYPERLINK" in value or "REF " in value for value in token.attributes.values())


def _name_range(token: XmlToken) -> str:
    name = token.name.removesuffix("Start").removesuffix("End")
    number = [value for key, value in token.attributes.items() if key.rpartition(":")[2] == "id"]
    return f"{name} {''.join(number)}"


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
