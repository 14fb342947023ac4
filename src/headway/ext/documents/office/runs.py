"""What stands in a paragraph of an office file: text in styles, elements around it, and elements beside it.

The source of a `Part`, and the markup of an element, is a tuple of `Piece`, of `Opened`, and of `END`, which closes the
last `Opened`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from headway.ext.documents.marked_text import Part, find_partners
from headway.ext.documents.office.xml_tree import Node

END = None


class Style(NamedTuple):
    """The properties of a run.

    Attributes:
        key: Equal for runs that look the same (`xml_paragraphs.describe_content` says what is seen).
        properties: Their element; None: the run has none.
    """

    key: str
    properties: Node | None = None

    @property
    def is_raised(self) -> bool:
        """Whether the text is a superscript."""
        is_word = "vertAlign" in self.key and "superscript" in self.key
        return is_word or re.search(r" baseline='[1-9]", self.key) is not None

    @property
    def is_link(self) -> bool:
        """Whether the text is a link: on slides, properties say so."""
        return "<hlink" in self.key


class Piece(NamedTuple):
    """An element with all that is in it; of a run with this style, or, with None, between runs."""

    node: Node
    style: Style | None = None


class Opened(NamedTuple):
    """What stands around text.

    Attributes:
        node: The element; None: there is none, such as between the marks of a range.
        holder: What holds the content: the element itself or one in it.
        head: What stands in the holder before the content.
        style: Of most of the text in it; None: that of the text around.
    """

    node: Node | None = None
    holder: Node | None = None
    head: tuple[Node, ...] = ()
    style: Style | None = None


def style_of(part: Part) -> Style | None:
    """Return the style of text."""
    piece = part.source[0] if part.source else None
    return piece.style if isinstance(piece, Piece) else None


def join_runs(parts: Sequence[Part]) -> list[Part]:
    """Return parts in which neighboring texts and elements that look the same are one."""
    joined: list[Part] = []
    whole = _merge_neighbors(parts)
    for is_text, group in groupby(whole, key=lambda part: part.kind == "text"):
        own = [*group]
        joined += _join_equal(own) if is_text else own
    return joined


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
        closed = keys.pop() if part.kind == "close" and part.is_element else ""
        out.append(part)
    return out


def _join_equal(texts: Iterable[Part]) -> list[Part]:
    """Return one text for neighboring texts of one style."""
    joined = []
    for _, group in groupby(texts, key=lambda text: text.key):
        first, *others = group
        pieces = dict.fromkeys(piece for text in (first, *others) for piece in text.source)
        text = "".join([first.text, *(each.text for each in others)])
        joined.append(first._replace(text=text, source=(*pieces,)))
    return joined


def mark_styles(
    parts: Sequence[Part], around: Style | None = None
) -> tuple[list[Part], Style | None]:
    """Return parts with elements around the texts that do not look like most, and the style of most text.

    Args:
        parts: Text and markup.
        around: The style of most text around them.
    """
    out, partner, at = list[Part](), find_partners(parts), 0
    main = _find_main_style(parts, partner) or around
    while at < len(parts):
        part, end = parts[at], partner.get(at, at)
        style = style_of(part) if part.kind == "text" else None
        if part.kind == "open" and at < end:
            inside, own = mark_styles(parts[at + 1 : end], main)
            opened, closing = part.source[-1], parts[end]
            before, after = part.source, closing.source
            if isinstance(opened, Opened):
                before = (*before[:-1], opened._replace(style=own))
            else:
                before, after = (*before, Opened(style=own)), (END, *after)
            out += [part._replace(source=before, is_element=True), *inside]
            out.append(closing._replace(source=after, is_element=True))
        elif style and main and (style.is_link or style.key != main.key) and part.text != " ":
            # The style of a space is an accident.
            name = "sup" if style.is_raised else "link" if style.is_link else "style"
            opening = Part("open", (Opened(style=style),), name=name, is_element=True)
            out += [opening, part, Part("close", (END,), name=name, is_element=True)]
        else:
            out.append(part)
        at = end + 1
    return out, main


def _find_main_style(parts: Sequence[Part], partner: Mapping[int, int]) -> Style | None:
    """Return the style of most text, but for links.

    A clause in a style of its own, such as a bold one, is an element also if it is longer than the plain text
    beside it: an element stays together in a translation, and has a word of it, and the rest may have none.
    """
    sizes, clauses = Counter[str](), Counter[str]()
    styles: dict[str, Style] = {}
    before, at = "", 0
    while at < len(parts):
        part = parts[at]
        if part.kind == "text" and (style := style_of(part)) is not None:
            sizes[style.key] += 1 + 2 * len(part.text.strip())
            styles.setdefault(style.key, style)
            if part.text != " ":  # the style of a space is an accident
                clauses[style.key] += before != f"={style.key}"
                before = f"={style.key}"
        at = partner.get(at, at) + 1
    if not sizes:
        return None
    main = max(sizes, key=lambda key: (not styles[key].is_link, sizes[key]))
    plainer = [key for key in clauses if len(key) < len(main) and not styles[key].is_link]
    if plainer and clauses[main] == 1:
        main = max(plainer, key=sizes.__getitem__)
    return styles[main]
