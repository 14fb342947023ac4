"""Paragraphs of OpenDocument: text with spans, in which several spaces are one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from headway.ext.documents.office.escaping import escape_text
from headway.ext.documents.office.inline import (
    InlineParagraph,
    Part,
    Piece,
    Render,
    Style,
    write_paragraph,
)
from headway.ext.documents.office.inline_reading import make_paragraph
from headway.ext.documents.paragraph import Translated
from headway.ext.documents.xml_tokens import XmlToken, iterate_xml

_SPACES = re.compile(r"[ \t\r\n]+")
_WRAPPERS = frozenset({
    "a", "bookmark-ref", "content-control", "meta", "reference-ref", "span", "text-input",
})  # fmt: skip
_MERGED = frozenset({"a", "span"})
_RANGES = frozenset({
    "alphabetical-index-mark", "annotation", "bookmark", "change", "reference-mark", "toc-mark", "user-index-mark",
})  # fmt: skip
_NAMES = (
    ":name",
    ":change-id",
    ":id",
)  # the first one that a mark has is equal at both ends of a range
_BREAKS = frozenset({"line-break", "tab"})
_TRANSPARENT = frozenset({"ruby", "ruby-base"})  # a translation has no readings of words
_DROPPED = frozenset({"ruby-text", "soft-page-break"})
_WITHOUT_TEXT = frozenset({"script"})
_MOST_SPACES = 100  # that one element stands for
_REVISION = re.compile(r"(?<!\s)\s++officeooo:[\w-]*rsid=\"[^\"]*\"")


@dataclass(frozen=True)
class OdfText:
    """How OpenDocument writes paragraphs.

    Attributes:
        styles: Of automatic styles of spans: another style that looks the same, or "" for none.
    """

    styles: Mapping[str, str]

    def read_paragraph(self, opening: XmlToken, source: str) -> "OdfReader":
        """Return a reader of the paragraph that begins with a tag."""
        return OdfReader(self.styles, opening)

    def write_paragraph(
        self, paragraph: InlineParagraph, translated: Translated, prefix: str, render: Render
    ) -> str:
        """Return the content of a paragraph in its translation."""
        writer = OdfWriter(prefix, render)
        write_paragraph(paragraph, translated, writer)
        return writer.finish()


def find_equal_styles(source: str) -> dict[str, str]:
    """Return for each automatic style of spans the first one that looks the same, or "" if it has no properties.

    Programs give words that were written at different times different styles, which are equal.
    """
    first: dict[str, str] = {}
    found: dict[str, str] = {}
    opened: XmlToken | None = None
    for token in iterate_xml(source):
        if token.name == "body" and token.kind == "open":
            break
        if token.name != "style" or token.kind not in ("open", "close"):
            continue
        if token.kind == "open":
            opened = token
            continue
        if opened is None or opened.attributes.get("style:family") != "text":
            continue
        name = opened.attributes.get("style:name", "")
        head = opened.source.replace(f'"{name}"', "", 1)
        properties = _REVISION.sub("", source[opened.end : token.start])
        is_empty = "parent-style-name" not in head and "=" not in properties
        found[name] = "" if is_empty else first.setdefault(head + properties, name)
    return found


class OdfReader:
    """Reads the tokens of a paragraph; those of paragraphs in it are left out.

    Args:
        styles: As of `OdfText`.
        opening: The opening tag of the paragraph.
    """

    def __init__(self, styles: Mapping[str, str], opening: XmlToken) -> None:
        self.start, self.end, self.prefix = opening.end, -1, opening.prefix
        self._styles = styles
        self._parts: list[Part] = []
        self._left_out: list[bool] = []  # whether the tags of each open element are
        self._depth, self._opened = 0, opening  # an element that is read as a whole
        self._inner: list[str] | None = None  # its text; None: it also has elements
        self._is_space = True  # another space would not count

    @property
    def is_inside(self) -> bool:
        """Whether the next token is in an element that is read as a whole, which may hold paragraphs."""
        return self._depth > 0

    def feed(self, token: XmlToken) -> None:
        """Read the next token."""
        is_tag = token.kind in ("open", "close", "empty")
        if self._depth:
            self._depth += {"open": 1, "close": -1}.get(token.kind, 0)
            if self._depth == 0:
                self._add(self._opened, token.end)
            elif is_tag:
                self._inner = None
            elif token.kind in ("text", "data") and self._inner is not None:
                self._inner.append(token.text)
        elif token.kind in ("text", "data"):
            text = _SPACES.sub(" ", token.text)
            text = text.removeprefix(" ") if self._is_space else text
            self._is_space = text.endswith(" ") if text else self._is_space
            self._parts.append(Part("text", (Piece(token.start, token.end),), text))
        elif token.kind == "close":
            if not self._left_out.pop():
                self._parts.append(Part("close", (Piece(token.start, token.end),), name=token.name))
        elif token.kind == "open" and token.name in _TRANSPARENT:
            self._left_out.append(True)
        elif token.kind == "open" and token.name in _WRAPPERS:
            self._open_wrapper(token)
        elif token.kind == "open":
            self._opened, self._depth, self._inner = token, 1, []
        elif is_tag:
            self._inner = None
            self._add(token, token.end)

    def _open_wrapper(self, token: XmlToken) -> None:
        attributes = token.attributes
        style = attributes.get(f"{self.prefix}style-name", "")
        is_plain = token.name == "span" and len(attributes) < 2 and self._styles.get(style) == ""
        self._left_out.append(is_plain)
        if is_plain:
            return
        key = ""
        if token.name in _MERGED:
            same = self._styles.get(style, style)
            key = token.source.replace(f'"{style}"', f'"{same}"') if style else token.source
        self._parts.append(Part("open", (Piece(token.start, token.end),), name=token.name, key=key))

    def _add(self, opening: XmlToken, end: int) -> None:
        """Add an element that is read as a whole."""
        piece, name = Piece(opening.start, end), opening.name
        is_text = opening.prefix == self.prefix
        if name in _DROPPED:
            return
        was_space, self._is_space = self._is_space, False
        if is_text and name == "s":
            count = opening.attributes.get(f"{self.prefix}c", "1")
            spaces = " " * min(int(count) if count.isdecimal() and len(count) < 6 else 1, _MOST_SPACES)  # fmt: skip
            self._parts.append(Part("text", (piece,), spaces))
        elif is_text and name in _BREAKS:
            self._is_space = name == "line-break"
            self._parts.append(Part("break", (piece,)))
        elif _begins_range(opening):
            self._is_space = was_space
            self._parts.append(Part("open", (piece,), name=_name_range(opening), is_element=False))
        elif name.removesuffix("-end") in _RANGES and name.endswith("-end"):
            self._is_space = was_space
            self._parts.append(Part("close", (piece,), name=_name_range(opening), is_element=False))
        elif is_text and self._inner and name not in _WITHOUT_TEXT:
            middle = Piece(end, end)
            self._parts += [
                Part("open", (piece,), name="field", is_kept=True),
                Part("text", (middle,), _SPACES.sub(" ", "".join(self._inner))),
                Part("close", (middle,), name="field"),
            ]
        else:
            self._parts.append(Part("point", (piece,)))

    def finish(self, closing: XmlToken) -> InlineParagraph:
        """Return the paragraph."""
        self.end = closing.start
        return make_paragraph(self._parts)


def _begins_range(token: XmlToken) -> bool:
    """Return whether a mark begins a range; one of a comment has the comment in it, and a name if it has an end."""
    if token.name == "annotation":
        return any(key.endswith(":name") for key in token.attributes)
    return token.name.endswith("-start") and token.name.removesuffix("-start") in _RANGES


def _name_range(token: XmlToken) -> str:
    name = token.name.removesuffix("-start").removesuffix("-end")
    found = {f":{key.rpartition(':')[2]}": value for key, value in token.attributes.items()}
    return f"{name} {next((found[key] for key in _NAMES if key in found), '')}"


class OdfWriter:
    """Writes the content of a paragraph.

    Args:
        prefix: The prefix of its elements, with a colon.
        render: Returns the source of a place.
    """

    def __init__(self, prefix: str, render: Render) -> None:
        self._prefix, self._render = prefix, render
        self._out: list[str] = []
        self._is_space = True  # another space would not count

    def write_text(self, text: str, style: Style | None) -> None:
        """Write text, with elements for the spaces that do not count otherwise."""
        for number, word in enumerate(re.sub(r"[\t\r]", " ", text).split(" ")):
            if number:
                self._out.append(f"<{self._prefix}s/>" if self._is_space else " ")
                self._is_space = True
            if word:
                self._out.append(escape_text(word))
                self._is_space = False

    def write_break(self, piece: Piece | None, style: Style | None) -> None:
        """Write a line break or tab."""
        new = f"<{self._prefix}line-break/>"
        self._out.append(new if piece is None else self._render(piece.start, piece.end))
        self._is_space = True

    def write_piece(self, piece: Piece) -> None:
        """Write markup."""
        self._out.append(self._render(piece.start, piece.end))

    def finish(self) -> str:
        """Return what was written."""
        return "".join(self._out)
