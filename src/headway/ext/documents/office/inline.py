"""Paragraphs of office files: text, and markup that stands between runs of text or in them.

Markup is known by its place in the part (the XML file). Neighboring runs with the same properties are one.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.documents.placing import Placed, place
from headway.ext.documents.xml_tokens import escape_text

Render = Callable[[int, int], str]  # the source of a stretch of the part, with the edits in it


class Style(NamedTuple):
    """The properties of a run.

    Attributes:
        key: Equal for runs that look the same.
        start: Where the properties start in the part.
        end: Where they end.
    """

    key: str
    start: int = 0
    end: int = 0

    @property
    def is_shifted(self) -> bool:
        """Whether the text is a superscript or a subscript, which is a part of a word on purpose."""
        return "vertAlign" in self.key or "baseline=" in self.key

    @property
    def is_raised(self) -> bool:
        """Whether the text is a superscript."""
        is_word = "vertAlign" in self.key and "superscript" in self.key
        return is_word or re.search(r'baseline="[1-9]', self.key) is not None


class SourceSpan(NamedTuple):
    """Markup as it stands in the part.

    Attributes:
        start: Where it starts.
        end: Where it ends.
        style: Of the run around it; None: it stands between runs.
    """

    start: int
    end: int
    style: Style | None = None


@dataclass(frozen=True)
class Inline:
    """The markup of an inline element.

    Attributes:
        before: What stands before the text of the element, or the whole element if its text is kept.
        after: What stands behind it.
        style: Of the text inside; None: that of the text around.
    """

    before: tuple[SourceSpan, ...] = ()
    after: tuple[SourceSpan, ...] = ()
    style: Style | None = None


@dataclass
class InlineParagraph(Paragraph[Inline]):
    """A paragraph; line breaks and tabs are line breaks in its text.

    Attributes:
        breaks: Their markup, in the order of the text; none if they are characters in the part, too.
        style: The properties of most text.
    """

    breaks: list[SourceSpan] = field(default_factory=list)
    style: Style | None = None


PartKind = Literal["text", "break", "open", "close", "point"]


class InlinePart(NamedTuple):
    """A part of a paragraph's source.

    Attributes:
        kind: An opening or closing tag, text, a line break or tab, or any other markup.
        pieces: Its markup, or the source of the text; text has one, which has its style.
        text: What the text means.
        name: Of a tag: an opening tag belongs to the next closing tag of the same name.
        is_element: Whether the tag is one of XML, and not a mark of a range, such as a bookmark.
        is_kept: Whether the text in an element stays as it is.
        key: Of an opening tag: neighboring elements of one key become one element; "": they stay two.
    """

    kind: PartKind
    pieces: tuple[SourceSpan, ...]
    text: str = ""
    name: str = ""
    is_element: bool = True
    is_kept: bool = False
    key: str = ""

    @property
    def style(self) -> Style | None:
        """Of text: its properties."""
        return self.pieces[0].style

    @property
    def style_key(self) -> str | None:
        """Of text: what is equal for texts that look the same."""
        return self.style and self.style.key


class ContentWriter:
    """Writes the content of a paragraph from its beginning to its end.

    Args:
        prefix: The prefix of its elements, with a colon.
        render: Returns the source of a place.

    Attributes:
        new_break: A line break that the source does not have, ``{0}`` being the prefix.
    """

    new_break = "\n"

    def __init__(self, prefix: str, render: Render) -> None:
        self._prefix, self._render = prefix, render
        self._out: list[str] = []

    def write_text(self, text: str, style: Style | None) -> None:
        """Write text without line breaks."""
        self._out.append(escape_text(text))

    def write_break(self, piece: SourceSpan | None, style: Style | None) -> None:
        """Write a line break or tab; None: a line break that the source does not have."""
        new = self.new_break.format(self._prefix)
        self._out.append(new if piece is None else self._render(piece.start, piece.end))

    def write_piece(self, piece: SourceSpan) -> None:
        """Write markup."""
        self._out.append(self._render(piece.start, piece.end))

    def finish(self) -> str:
        """Return what was written."""
        return "".join(self._out)


def write_paragraph(
    paragraph: InlineParagraph, translated: Translated, writer: ContentWriter
) -> None:
    """Write the translation of a paragraph with its elements around their words."""
    breaks = iter(paragraph.breaks)

    def write(parts: Sequence[str | Placed[Inline]], style: Style | None) -> None:
        for part in parts:
            if isinstance(part, str):
                for number, line in enumerate(part.split("\n")):
                    if number:
                        writer.write_break(next(breaks, None), style)
                    if line:
                        writer.write_text(line, style)
                continue
            content = part.element.content
            for piece in content.before:
                writer.write_piece(piece)
            if not part.element.is_kept:
                write(part.inner, content.style or style)
            for piece in content.after:
                writer.write_piece(piece)

    write(place(paragraph, translated), paragraph.style)
    for piece in breaks:  # the translation has fewer
        writer.write_break(piece, paragraph.style)
