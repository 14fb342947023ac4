"""Paragraphs of OpenDocument: text with spans, in which several spaces are one."""

import re
from collections.abc import Mapping

from headway.ext.documents.office.content_reader import ContentReader
from headway.ext.documents.office.inline import ContentWriter, Render, SourceSpan, Style
from headway.ext.documents.xml_tokens import XmlToken, escape_text, iterate_xml

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


class OdfReader(ContentReader):
    """Reads and writes a paragraph.

    Args:
        styles: Of automatic styles of spans: another style that looks the same, or "" for none.
        opening: The opening tag of the paragraph.
        source: The source of the part.
    """

    def __init__(self, styles: Mapping[str, str], opening: XmlToken, source: str) -> None:
        super().__init__(opening)
        self._styles = styles
        self._left_out: list[bool] = []  # whether the tags of each open element are
        self._is_space = True  # another space would not count

    def _make_writer(self, render: Render) -> "OdfWriter":
        return OdfWriter(self.prefix, render)

    def _read_text(self, token: XmlToken) -> None:
        text = _SPACES.sub(" ", token.text)
        text = text.removeprefix(" ") if self._is_space else text
        self._is_space = text.endswith(" ") if text else self._is_space
        self._put("text", SourceSpan(token.start, token.end), text)

    def _close(self, token: XmlToken) -> None:
        if not self._left_out.pop():
            self._put("close", SourceSpan(token.start, token.end), name=token.name)

    def _open(self, token: XmlToken) -> None:
        if token.kind == "open" and token.name in _TRANSPARENT:
            self._left_out.append(True)
        elif token.kind == "open" and token.name in _WRAPPERS:
            self._open_wrapper(token)
        else:
            self._read_whole(token)

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
        self._put("open", SourceSpan(token.start, token.end), name=token.name, key=key)

    def _add(self, opening: XmlToken, end: int) -> None:
        piece, name = SourceSpan(opening.start, end), opening.name
        is_text = opening.prefix == self.prefix
        if name in _DROPPED:
            return
        was_space, self._is_space = self._is_space, False
        if is_text and name == "s":
            count = opening.attributes.get(f"{self.prefix}c", "1")
            spaces = " " * min(int(count) if count.isdecimal() and len(count) < 6 else 1, _MOST_SPACES)  # fmt: skip
            self._put("text", piece, spaces)
        elif is_text and name in _BREAKS:
            self._is_space = name == "line-break"
            self._put("break", piece)
        elif _begins_range(opening):
            self._is_space = was_space
            self._put("open", piece, name=_name_range(opening), is_element=False)
        elif name.removesuffix("-end") in _RANGES and name.endswith("-end"):
            self._is_space = was_space
            self._put("close", piece, name=_name_range(opening), is_element=False)
        elif is_text and self._inner and not self._has_elements and name not in _WITHOUT_TEXT:
            self._add_kept(piece, _SPACES.sub(" ", "".join(self._inner)))
        else:
            self._put("point", piece)


def _begins_range(token: XmlToken) -> bool:
    """Return whether a mark begins a range; one of a comment has the comment in it, and a name if it has an end."""
    if token.name == "annotation":
        return any(key.endswith(":name") for key in token.attributes)
    return token.name.endswith("-start") and token.name.removesuffix("-start") in _RANGES


def _name_range(token: XmlToken) -> str:
    name = token.name.removesuffix("-start").removesuffix("-end")
    found = {f":{key.rpartition(':')[2]}": value for key, value in token.attributes.items()}
    return f"{name} {next((found[key] for key in _NAMES if key in found), '')}"


class OdfWriter(ContentWriter):
    """Writes the content of a paragraph."""

    new_break = "<{0}line-break/>"

    def __init__(self, prefix: str, render: Render) -> None:
        super().__init__(prefix, render)
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

    def write_break(self, piece: SourceSpan | None, style: Style | None) -> None:
        """Write a line break or tab."""
        super().write_break(piece, style)
        self._is_space = True
