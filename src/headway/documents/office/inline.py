"""Paragraphs of office files: text, and markup that stands between runs of text or in them.

Markup is known by its place in the part (the XML file). Neighboring runs with the same properties are one.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from headway.documents.blocks import MAX_DEPTH
from headway.documents.paragraph import Element, Paragraph, Translated
from headway.documents.placing import Placed, place

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


class Piece(NamedTuple):
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

    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()
    style: Style | None = None


@dataclass
class InlineParagraph(Paragraph[Inline]):
    """A paragraph; line breaks and tabs are line breaks in its text.

    Attributes:
        breaks: Their markup, in the order of the text; none if they are characters in the part, too.
        style: The properties of most text.
    """

    breaks: list[Piece] = field(default_factory=list)
    style: Style | None = None


class Part(NamedTuple):
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

    kind: Literal["text", "break", "open", "close", "point"]
    pieces: tuple[Piece, ...]
    text: str = ""
    name: str = ""
    is_element: bool = True
    is_kept: bool = False
    key: str = ""


def make_paragraph(parts: Sequence[Part]) -> InlineParagraph:
    """Return the paragraph of text and markup."""
    parts = _merge_neighbors(parts)
    builder = _Builder(parts, _find_partners(parts))
    elements, style = builder.build(0, len(parts), None)
    return InlineParagraph(builder.text, elements, builder.breaks, style)


def is_balanced(parts: Sequence[Part]) -> bool:
    """Return whether every tag of XML among some parts has its partner among them."""
    depth = 0
    for part in parts:
        if part.is_element:
            depth += {"open": 1, "close": -1}.get(part.kind, 0)
        if depth < 0:
            return False
    return depth == 0


def _merge_neighbors(parts: Sequence[Part]) -> list[Part]:
    """Return parts without the tags between two neighboring elements of one key."""
    out: list[Part] = []
    keys: list[str] = []  # of the open elements
    closed = ""  # the key of the element whose closing tag was the last part
    for part in parts:
        if part.kind == "open" and part.is_element:
            keys.append(part.key)
            if part.key and part.key == closed:
                out.pop()
                closed = ""
                continue
        is_end = part.kind == "close" and part.is_element
        closed = keys.pop() if is_end else ""
        if out and part.kind == out[-1].kind == "text":
            out[-1:] = _join_texts(out[-1], part)
        else:
            out.append(part)
    return out


def _join_texts(left: Part, right: Part) -> list[Part]:
    """Return two neighboring texts as one if they look the same; a word gets one style.

    A program may cut a word anywhere. Its style in the translation can only be that of most of its letters.
    """
    first, second = left.pieces[0].style, right.pieces[0].style
    if first is None or second is None or first.key == second.key:
        return [left._replace(text=left.text + right.text, pieces=left.pieces + right.pieces)]
    if first.is_shifted or second.is_shifted:
        return [left, right]
    if left.text[-1:].strip() == "" or right.text[:1].strip() == "":
        return [left, right]
    tail, head = left.text.split()[-1], right.text.split()[0]
    moved = len(head) if len(head) <= len(tail) else -len(tail)
    joined, at = left.text + right.text, len(left.text) + moved
    texts = [left._replace(text=joined[:at]), right._replace(text=joined[at:])]
    return [part for part in texts if part.text]


def _find_partners(parts: Sequence[Part]) -> dict[int, int]:
    """Return the number of the closing tag for each opening tag; marks of ranges may have none."""
    partner: dict[int, int] = {}
    stack: list[int] = []
    for number, part in enumerate(parts):
        if part.kind == "open" and (part.is_element or len(stack) < MAX_DEPTH):
            stack.append(number)
        elif part.kind == "close":
            for depth in range(len(stack) - 1, -1, -1):
                opening = parts[stack[depth]]
                if opening.name == part.name:
                    partner[stack[depth]] = number
                    del stack[depth:]
                    break
                if opening.is_element:
                    break  # a range that ends outside of this element has no partner
    return partner


@dataclass
class _Builder:
    """The text and the elements of a paragraph, as far as they are known."""

    parts: Sequence[Part]
    partner: dict[int, int]
    text: str = ""
    breaks: list[Piece] = field(default_factory=list)

    def build(
        self, first: int, last: int, around: Style | None
    ) -> tuple[list[Element[Inline]], Style | None]:
        """Return the elements of a range of parts, and the style of most of its text.

        Text of another style becomes an element; what stands between two texts of one style is in it.
        """
        main = self._find_main_style(first, last) or around
        out: list[Element[Inline]] = []
        group: Element[Inline] | None = None
        after_group: list[Element[Inline]] = []
        current, at = main, first
        while at < last:
            part = self.parts[at]
            if part.kind == "break":
                self.text += "\n"
                self.breaks += part.pieces
                at += 1
                continue
            if part.kind != "text":
                element, at = self._make_element(at, main)
                (out if group is None else after_group).append(element)
                continue
            own = part.pieces[0].style
            is_change = own is not None and current is not None and own.key != current.key
            if is_change and part.text != " ":  # the style of a space is an accident
                out += after_group
                after_group, current = [], own
                is_main = own is None or (main is not None and own.key == main.key)
                group = None if is_main else Element(len(self.text), 0, Inline(style=own))
                out += [] if group is None else [group]
            self.text += part.text
            if group is not None:
                group.inner += after_group
                group.end, after_group = len(self.text), []
            at += 1
        return out + after_group, main

    def _find_main_style(self, first: int, last: int) -> Style | None:
        sizes: Counter[str] = Counter()
        styles: dict[str, Style] = {}
        at = first
        while at < last:
            part = self.parts[at]
            if part.kind == "text" and part.pieces[0].style is not None:
                style = part.pieces[0].style
                sizes[style.key] += 1 + 2 * len(part.text.strip())
                styles.setdefault(style.key, style)
            at = self.partner.get(at, at) + 1
        return styles[sizes.most_common(1)[0][0]] if sizes else None

    def _make_element(self, at: int, style: Style | None) -> tuple[Element[Inline], int]:
        """Return the element of a part, and the number of the part behind the element."""
        part, start = self.parts[at], len(self.text)
        if at not in self.partner:
            return Element(start, start, Inline(part.pieces)), at + 1
        end = self.partner[at]
        if part.is_kept:
            inside = self.parts[at : end + 1]
            self.text += "".join(" " if each.kind == "break" else each.text for each in inside)
            pieces = tuple(piece for each in inside for piece in each.pieces)
            return Element(start, len(self.text), Inline(pieces), is_kept=True), end + 1
        inner, style = self.build(at + 1, end, style)
        content = Inline(part.pieces, self.parts[end].pieces, style)
        return Element(start, len(self.text), content, inner), end + 1


class Writer(Protocol):
    """Writes the content of a paragraph from its beginning to its end."""

    def write_text(self, text: str, style: Style | None) -> None:
        """Write text without line breaks."""

    def write_break(self, piece: Piece | None, style: Style | None) -> None:
        """Write a line break or tab; None: a line break that the source does not have."""

    def write_piece(self, piece: Piece) -> None:
        """Write markup."""


def write_paragraph(paragraph: InlineParagraph, translated: Translated, writer: Writer) -> None:
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
