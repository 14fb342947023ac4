"""Reads paragraphs made of runs: text with properties, as in word processing, slides and cells."""

import html
import re

from headway.ext.documents.office.content_reader import ContentReader
from headway.ext.documents.office.fields import FieldMark, shows_text
from headway.ext.documents.office.inline import InlinePart, Render, SourceSpan, Style
from headway.ext.documents.office.run_writer import BARE, RunDialect, RunWriter
from headway.ext.documents.xml_tokens import XmlToken

_NUMBER = re.compile(r"""\s(?:\w+:)?id=(?:"[^"]*"|'[^']*')""")


class RunReader(ContentReader):
    """Reads and writes a paragraph.

    Args:
        dialect: How the format writes paragraphs.
        opening: The opening tag of the paragraph.
        source: The source of the part.
    """

    def __init__(self, dialect: RunDialect, opening: XmlToken, source: str) -> None:
        super().__init__(opening)
        self._dialect, self._source = dialect, source
        self._style: Style | None = None  # of the run that is open
        self._outer: list[Style | None] = []  # around it: a word with a reading has runs in a run
        self._text: list[str] | None = None  # of the text element that is open
        self._holder_end = -1

    def _make_writer(self, render: Render) -> RunWriter:
        return RunWriter(self._dialect, self.prefix, render)

    def _read_text(self, token: XmlToken) -> None:
        if self._text is not None:
            self._text.append(token.text)

    def _open(self, token: XmlToken) -> None:
        dialect, name, is_open = self._dialect, token.name, token.kind == "open"
        role = dialect.roles.get(name)
        if name == "r":
            if is_open:
                self._outer.append(self._style)
                self._style = Style("")
        elif name == "t":
            self._text = [] if is_open else None
            self._opened = token
        elif is_open and role == "wrapper":
            is_kept = name in dialect.kept and not shows_text(
                token.attributes.get(f"{self.prefix}instr", "")
            )
            key = "" if is_kept or name in dialect.described else token.source
            if name in dialect.numbered:
                key = _NUMBER.sub("", key)
            pieces = (SourceSpan(token.start, token.end),)
            self._parts.append(InlinePart("open", pieces, name=name, is_kept=is_kept, key=key))
        elif role == "transparent" or (role == "holder" and self._attach(token.end)):
            pass  # nothing more to do
        else:
            self._read_whole(token)

    def _close(self, token: XmlToken) -> None:
        role = self._dialect.roles.get(token.name)
        if token.name == "r":
            self._style = self._outer.pop()
        elif token.name == "t" and self._text is not None:
            text = self._dialect.read("".join(self._text))
            if self._dialect.is_trimmed and "preserve" not in self._opened.source:
                text = text.strip(" \t\r\n")
            style = self._style or Style(BARE)
            self._put("text", SourceSpan(self._opened.start, token.end, style), text)
            self._text = None
        elif role == "holder":
            self._holder_end = token.start
        elif role == "wrapper":
            start = token.start if self._holder_end < 0 else self._holder_end
            self._holder_end = -1
            self._put("close", SourceSpan(start, token.end), name=token.name)

    def _add(self, opening: XmlToken, end: int) -> None:
        dialect, name = self._dialect, opening.name
        role = dialect.roles.get(name)
        piece = SourceSpan(opening.start, end, self._style)
        if name == "rPr" and self._style is not None:
            key = dialect.normalize(self._source[opening.start : end])
            self._style = Style(key, opening.start, end)
        elif role == "head":
            self.start = end
        elif role == "tail":
            self.end = opening.start
        elif role == "dropped" or (role == "attached" and self._attach(end)):
            pass  # nothing more to do
        elif role == "break":
            self._put("break", piece)
        elif name == "fldChar":
            self._parts.append(FieldMark(piece, opening.attributes.get(f"{self.prefix}fldCharType", "")))  # fmt: skip
        elif name == "instrText":
            self._parts.append(FieldMark(piece, "", "".join(self._inner)))
        elif role == "hyphen":
            self._put("text", SourceSpan(opening.start, end, self._style or Style("")), "-")
        elif name.removesuffix("Start") in dialect.ranges:
            self._put("open", piece, name=_name_range(opening), is_element=False)
        elif name.removesuffix("End") in dialect.ranges:
            self._put("close", piece, name=_name_range(opening), is_element=False)
        elif name == "fld":
            self._add_kept(piece, self._read_field(opening, end))
        elif role == "formula":
            self._add_kept(piece, " ".join("".join(self._inner).split()))
        else:
            self._put("point", piece)

    def _attach(self, end: int) -> bool:
        """Add what describes a wrapper to its opening tag, if the wrapper has just been opened."""
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, InlinePart) or last.kind != "open" or not last.is_element:
            return False
        self._parts[-1] = last._replace(pieces=(SourceSpan(last.pieces[0].start, end),))
        return True

    def _read_field(self, opening: XmlToken, end: int) -> str:
        """Return the text of a field of a slide, such as its number."""
        source = self._source[opening.start : end]
        found = re.search(r"<[^<>]*\bt>([^<>]*)</[^<>]*>\s*</[^<>]*>$", source)
        return html.unescape(found[1]) if found else ""


def _name_range(token: XmlToken) -> str:
    name = token.name.removesuffix("Start").removesuffix("End")
    number = [value for key, value in token.attributes.items() if key.rpartition(":")[2] == "id"]
    return f"{name} {''.join(number)}"
