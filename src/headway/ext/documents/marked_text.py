"""Paragraphs of text and inline markup, which all formats with markup share.

A reader divides a paragraph into parts. In text formats (HTML, Markdown, subtitles, XLIFF) the source of a part is a
string; in office files it is a tuple of what stands in the tree of XML (`office.runs`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any, Literal, NamedTuple

from headway.ext.documents.paragraph import Element, Paragraph, Translated
from headway.ext.documents.placing import Placed, place
from headway.ext.documents.text_file import Edit, apply_edits
from headway.text import is_translatable

LINE_BREAK = re.compile(r"(?<!\s)\s*[\n\r]\s*")  # with the white space around it

_LONGEST_MARK = 12  # characters of the mark of a note: "[12, 13]"
_MOST_MARKUP = 16  # tags between a mark and the text behind it
MAX_DEPTH = 64  # nested inline elements; deeper tags stay where they are
# Says only how text looks. Word processors write every run of letters as one.
_LOOK = re.compile(
    r"""<span(?:\s+(?:class|style)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))*\s*>""", re.IGNORECASE
)


Kind = Literal["text", "code", "open", "close", "point", "dropped", "break", "line"]
_TEXTS = ("text", "code")


class Part(NamedTuple):
    """A part of a block's source.

    Attributes:
        kind: An opening or closing tag, text, an element whose text stays as it is ("code", but also names in other
            languages, formulas and addresses), markup between two blocks ("break"), what a translation lacks, a line
            break in the text ("line"), or any other markup.
        source: The part as it stands in the file.
        text: What it means, if it is text. Of markup: how it is written with a translation, if not as it is.
        name: Of a tag: an opening tag belongs to the next closing tag of the same name.
        is_element: Whether its partner is in the same element, as in XML; otherwise nothing is validated.
        key: Of text: equal for texts that look the same. Of an opening tag: neighboring elements of one key become one
            element; "": they stay two.
        inner: Of markup: the texts in it, in their order.
    """

    kind: Kind
    source: Any
    text: str = ""
    name: str = ""
    is_element: bool = False
    key: str = ""
    inner: "tuple[MarkedEntry, ...]" = ()


WriteParagraph = Callable[[Paragraph, Translated], str]


def make_kept(source: Any, text: str) -> Part:
    """Return an element that stays as it is: it stands for a word if it has text, and for none otherwise."""
    return Part("code", source, text) if text.strip() else Part("point", source)


def make_paragraph(parts: Sequence[Part]) -> Paragraph:
    """Return the paragraph of text and markup; a tag without a partner stays where it is."""
    parts = replace_elements(parts, _join_note_mark)
    partner = find_partners(parts)
    source = "".join(part.source for part in parts if isinstance(part.source, str))
    text, lines, elements = "", list[Any](), list[Element]()
    path: list[tuple[Element, list[Element]]] = []  # the open elements, and what is in them
    for number, part in enumerate(parts):
        inner = path[-1][1] if path else elements
        if part.kind == "text":
            text += part.text
        elif part.kind == "code":
            end = len(text) + len(part.text)
            inner.append(Element(len(text), end, part.source, is_kept=True))
            text += part.text
        elif number in partner and part.kind == "open":
            closing = parts[partner[number]]
            marks = part.text or part.source, closing.text or closing.source
            is_look = isinstance(part.source, str) and _LOOK.fullmatch(part.source) is not None
            opened = Element(len(text), 0, *marks, kind=part.name, is_divisible=is_look)
            inner.append(opened)
            path.append((opened, []))
        elif number in partner:
            opened, inside = path.pop()
            opened.end, opened.inner = len(text), inside or ()
        elif part.kind == "line":
            text += "\n"
            lines.append(part.source)
        elif part.kind != "dropped":
            kind = "end" if part.kind == "close" else ""
            inner.append(Element(len(text), len(text), part.text or part.source, kind=kind))
    return Paragraph(text, elements or (), source=source, lines=lines or ())


def make_nodes(parts: Iterable[Part]) -> list[str | Paragraph]:
    """Return the blocks of text between breaks, and what stays as it is: breaks, and what has no words outside of code."""
    nodes: list[str | Paragraph] = []
    for is_break, group in groupby(parts, key=lambda part: part.kind == "break"):
        run = [*group]
        has_text = any(part.kind == "text" and part.text.strip() for part in run)
        block = make_paragraph(run) if has_text and not is_break else None
        is_block = block is not None and is_translatable(block.text)
        nodes.append(block if block and is_block else "".join(part.source for part in run))
    return nodes


class MarkedText:
    """A text with markup as a file has it, such as a page, a paragraph of Markdown, or an attribute.

    Args:
        parts: Text, markup and breaks; their sources together are the text.
        write_paragraph: Returns the source of a translated block.

    Attributes:
        paragraphs: The texts in markup, and then the blocks.
    """

    __slots__ = ("_nodes", "_parts", "_write_paragraph", "paragraphs")

    def __init__(self, parts: Sequence[Part], write_paragraph: WriteParagraph) -> None:
        self._nodes, self._write_paragraph = make_nodes(parts), write_paragraph
        inner = [block for part in parts for each in part.inner for block in each.paragraphs]
        self._parts = parts if any(part.inner for part in parts) else ()
        self.paragraphs = [*inner, *(node for node in self._nodes if isinstance(node, Paragraph))]

    def write(self, translations: Iterable[Translated]) -> str:
        """Return the text with its paragraphs replaced.

        Args:
            translations: One for each paragraph; of an iterator, no more are taken.
        """
        left, nodes = iter(translations), self._nodes
        if self._parts:
            parts = [part._replace(source=_write_inner(part, left)) for part in self._parts]
            nodes = make_nodes(parts)
        return "".join(
            node if isinstance(node, str) else self._write_paragraph(node, next(left))
            for node in nodes
        )


class MarkedEntry(NamedTuple):
    """A text with markup in a file, or in markup: an attribute, a title, the alternative text of an image; or what takes the place of one.

    Attributes:
        start: Where it starts in the file, or in the source of its part.
        end: Where it ends.
        text: The text.
        finish: Returns what stands in its place if it changes.
    """

    start: int
    end: int
    text: MarkedText
    finish: Callable[[str], str] = str

    @property
    def paragraphs(self) -> list[Paragraph]:
        """The paragraphs of the text."""
        return self.text.paragraphs

    def edit(self, translations: Iterable[Translated]) -> Iterator[Edit]:
        """Yield the edit that replaces the text."""
        yield Edit(self.start, self.end, self.finish(self.text.write(translations)))


def _write_inner(part: Part, translations: Iterator[Translated]) -> Any:
    """Return the source of a part with the texts in it replaced."""
    edits = []
    for start, end, text, finish in part.inner:
        written = text.write(translations)
        if written != part.source[start:end]:
            edits.append(Edit(start, end, finish(written)))
    return apply_edits(part.source, edits) if edits else part.source


def replace_elements(
    parts: Sequence[Part],
    replace: Callable[[Sequence[Part], Sequence[Part], Sequence[Part]], Part | None],
) -> Sequence[Part]:
    """Return parts in which some elements are one part each.

    Args:
        parts: Text and markup.
        replace: Returns what replaces an element; None: it stays. Gets a few of the parts before it, which have been replaced,
            those of the element, and a few of those behind it.
    """
    if not any(part.kind == "open" for part in parts):
        return parts
    partner, out, at = find_partners(parts), list[Part](), 0
    while at < len(parts):
        end = partner.get(at, at) + 1
        new = None
        if end > at + 1:
            new = replace(out[-_MOST_MARKUP:], parts[at:end], parts[end : end + _MOST_MARKUP])
        out.append(new or parts[at])
        at = end if new else at + 1
    return out


def _join_note_mark(
    before: Sequence[Part], element: Sequence[Part], after: Sequence[Part]
) -> Part | None:
    """Return the mark of a note, such as ``<sup>1</sup>`` behind a word, as one point; None: the element is none.

    As text it would be a part of the word, and the word's translation would take its place.
    """
    opening = element[0]
    if opening.name.strip("<>") != "sup" and "noteref" not in opening.source:
        return None
    last, inside, first = (
        "".join(part.text for part in parts if part.kind in _TEXTS)
        for parts in (before, element, after)
    )
    is_short = 0 < len(inside) <= _LONGEST_MARK and not any(map(str.isalpha, inside))
    is_apart = not last[-1:].isspace() and not first[:1].isalnum()
    return Part("point", join_sources(element)) if is_short and last and is_apart else None


def join_sources(parts: Sequence[Part]) -> Any:
    """Return the sources of parts as one: a string, or a tuple of what stands in a tree of XML."""
    if isinstance(parts[0].source, str):
        return "".join(part.source for part in parts)
    return tuple(chain.from_iterable(part.source for part in parts))


def find_partners(parts: Sequence[Part]) -> dict[int, int]:
    """Return the number of the closing tag for each opening tag, and the other way round."""
    partner: dict[int, int] = {}
    stack: list[int] = []
    for number, part in enumerate(parts):
        if part.kind == "open" and (part.is_element or len(stack) < MAX_DEPTH):
            stack.append(number)
        elif part.kind == "close":
            for depth in range(len(stack) - 1, -1, -1):
                opening = parts[stack[depth]]
                if opening.name == part.name:
                    partner[stack[depth]], partner[number] = number, stack[depth]
                    del stack[depth:]
                    break
                if opening.is_element:
                    break  # a range that ends outside of this element has no partner
    return partner


def write_paragraph(block: Paragraph, translated: Translated, escape: Callable[[str], str]) -> str:
    """Return the translation of a block with its markup around its words.

    If the translation equals the text, the block is returned as the file has it.

    Args:
        block: The block.
        translated: Its translation.
        escape: Returns the source of a text.
    """
    if translated.text == block.text:
        return block.source
    parts = flatten(place(block, translated))
    return "".join(part if is_markup else escape(part) for part, is_markup in parts)


def flatten(parts: Sequence[str | Placed]) -> Iterator[tuple[Any, bool]]:
    """Yield the parts of a translation in their order: the characters, and whether they are markup."""
    for part in parts:
        if isinstance(part, str):
            yield part, False
            continue
        yield part.element.before, True
        if not part.element.is_kept:  # its text is in its mark
            yield from flatten(part.inner)
        yield part.element.after, True
