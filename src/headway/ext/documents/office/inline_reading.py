"""Paragraphs made of text and markup: words in one style, elements with their partners."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby

from headway.ext.documents.blocks import find_partners, is_behind_a_word
from headway.ext.documents.office.inline import (
    Inline,
    InlineParagraph,
    InlinePart,
    SourceSpan,
    Style,
)
from headway.ext.documents.paragraph import Element

_PIECE = re.compile(r"\s+|\S+")


def make_paragraph(parts: Sequence[InlinePart]) -> InlineParagraph:
    """Return the paragraph of text and markup."""
    parts = [*_join_texts(_merge_neighbors(parts))]
    builder = _Builder(parts, find_partners(parts))
    elements, style = builder.build(0, len(parts), None)
    return InlineParagraph("".join(builder.texts), elements, builder.breaks, style)


def is_balanced(parts: Sequence[InlinePart]) -> bool:
    """Return whether every tag of XML among some parts has its partner among them."""
    depth = 0
    for part in parts:
        if part.is_element:
            depth += {"open": 1, "close": -1}.get(part.kind, 0)
        if depth < 0:
            return False
    return depth == 0


def _merge_neighbors(parts: Sequence[InlinePart]) -> list[InlinePart]:
    """Return parts without the tags between two neighboring elements of one key."""
    out: list[InlinePart] = []
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
        out.append(part)
    return out


def _join_texts(parts: Sequence[InlinePart]) -> Iterator[InlinePart]:
    """Yield parts in which neighboring texts that look the same are one text, and a word has one style."""
    kept = 0  # elements around a part whose text stays, and with it all of its pieces
    for is_text, group in groupby(parts, key=lambda part: part.kind == "text"):
        if is_text and not kept:
            yield from _join_equal(_share_words([*_join_equal(group)]))
            continue
        for part in group:
            if part.is_element and (kept or part.is_kept):
                kept += {"open": 1, "close": -1}.get(part.kind, 0)
            yield part


def _join_equal(texts: Iterable[InlinePart]) -> Iterator[InlinePart]:
    """Yield one text for neighboring texts of one style."""
    for _, group in groupby(texts, key=lambda text: text.style_key):
        first, *others = group
        pieces = chain(first.pieces, *(each.pieces for each in others))
        text = "".join([first.text, *(each.text for each in others)])
        yield first._replace(text=text, pieces=tuple(dict.fromkeys(pieces)))


def _share_words(texts: Sequence[InlinePart]) -> list[InlinePart]:
    """Return neighboring texts divided so that each word is in one of them, whose style most of its letters have.

    A program may cut a word anywhere. What is raised or lowered is a part of a word on purpose.
    """
    if len(texts) < 2:
        return [*texts]
    pieces = [(piece, text) for text in texts for piece in _PIECE.findall(text.text)]
    out: list[InlinePart] = []
    for is_shared, group in groupby(pieces, key=_is_plain_word):
        word = [*group]
        if is_shared:
            sizes, owners = Counter[str | None](), {text.style_key: text for _, text in word}
            for piece, text in word:
                sizes[text.style_key] += len(piece)
            [(key, _)] = sizes.most_common(1)  # the first one of several
            word = [("".join(piece for piece, _ in word), owners[key])]
        out += [text._replace(text=piece) for piece, text in word]
    return out


def _is_plain_word(item: tuple[str, InlinePart]) -> bool:
    piece, text = item
    return not (piece.isspace() or (text.style and text.style.is_shifted))


@dataclass
class _Builder:
    """The text and the elements of a paragraph, as far as they are known."""

    parts: Sequence[InlinePart]
    partner: dict[int, int]
    texts: list[str] = field(default_factory=list)
    length: int = 0
    breaks: list[SourceSpan] = field(default_factory=list)

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
                self._add("\n")
                self.breaks += part.pieces
                at += 1
                continue
            if part.kind != "text":
                element, at = self._make_element(at, main)
                (out if group is None else after_group).append(element)
                continue
            own = part.style
            if own is not None and own.is_raised and self._is_note_mark(at):
                point = Element(self.length, self.length, Inline(part.pieces))
                (out if group is None else after_group).append(point)
                at += 1
                continue
            is_change = own is not None and current is not None and own.key != current.key
            if is_change and part.text != " ":  # the style of a space is an accident
                out += after_group
                after_group, current = [], own
                is_main = own is None or (main is not None and own.key == main.key)
                group = (
                    None if is_main else Element(self.length, 0, Inline(style=own), kind="style")
                )
                out += [] if group is None else [group]
            self._add(part.text)
            if group is not None:
                group.inner += after_group
                group.end, after_group = self.length, []
            at += 1
        return out + after_group, main

    def _add(self, text: str) -> None:
        if text:
            self.texts.append(text)
            self.length += len(text)

    def _is_note_mark(self, at: int) -> bool:
        """Return whether a text is the mark of a note behind a word, which is no part of the word."""
        following = self.parts[at + 1 : at + 2]
        after = following[0].text[:1] if following and following[0].kind == "text" else " "
        before = self.texts[-1][-1] if self.texts else " "
        return is_behind_a_word(before, self.parts[at].text, after)

    def _find_main_style(self, first: int, last: int) -> Style | None:
        """Return the style of most text.

        A clause in a style of its own, such as a bold one, is an element also if it is longer than the plain text
        before and behind it, because an element stays together in a translation, and the rest does not.
        """
        sizes, clauses = Counter[str](), Counter[str]()
        styles: dict[str, Style] = {}
        before: str | None = None
        at = first
        while at < last:
            part = self.parts[at]
            if part.kind == "text" and (style := part.style) is not None:
                sizes[style.key] += 1 + 2 * len(part.text.strip())
                styles.setdefault(style.key, style)
                if part.text != " ":  # the style of a space is an accident
                    clauses[style.key] += style.key != before
                    before = style.key
            at = self.partner.get(at, at) + 1
        if not sizes:
            return None
        main = sizes.most_common(1)[0][0]
        plainer = [key for key in sizes if len(key) < len(main) and clauses[key] > 1]
        if plainer and clauses[main] == 1:
            main = max(plainer, key=sizes.__getitem__)
        return styles[main]

    def _make_element(self, at: int, style: Style | None) -> tuple[Element[Inline], int]:
        """Return the element of a part, and the number of the part behind the element."""
        part, start = self.parts[at], self.length
        if at not in self.partner:
            kind = "end" if part.kind == "close" else ""
            return Element(start, start, Inline(part.pieces), kind=kind), at + 1
        end = self.partner[at]
        if part.is_kept:
            inside = self.parts[at : end + 1]
            self._add("".join(" " if each.kind == "break" else each.text for each in inside))
            pieces = tuple(piece for each in inside for piece in each.pieces)
            return Element(start, self.length, Inline(pieces), is_kept=True), end + 1
        inner, style = self.build(at + 1, end, style)
        content = Inline(part.pieces, self.parts[end].pieces, style)
        return Element(start, self.length, content, inner, kind="markup"), end + 1
