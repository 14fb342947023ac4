"""Gaps in a line of HTML: what stands between links, or a page's own elements, that a reader sees apart, as in a menu."""

import re
from collections.abc import Iterator, Sequence

from headway.ext.documents.blocks import Part, find_partners

_SIGN = re.compile("[|·•]")  # it stands between links, but not in sentences
_BETWEEN = re.compile(r"[\s|·•/–—›»]*")


def find_gaps(run: Sequence[Part]) -> Iterator[range]:
    """Yield the parts between two elements with words that are seen apart: tags, white space and signs.

    A gap may be empty. Numbers of footnotes have no words, and superscripts belong to the word before them.
    """
    lists = _find_lists(run)
    behind: range | None = None  # an element with words, before the next one opens
    gap: range | None = None  # the same after it has opened, before its first word
    has_words = False
    for number, part in enumerate(run):
        if part.kind in ("text", "code"):
            is_word = any(map(str.isalpha, part.text))
            if gap is not None and is_word:
                yield gap
                gap = None
            if behind is not None:
                is_between = _BETWEEN.fullmatch(part.text)
                behind = range(behind.start, number + 1) if is_between else None
            has_words = has_words or is_word
        elif part.name == "sup":
            behind = gap = None
        elif part.kind == "close" and _is_apart(part.name):
            behind, gap = range(number + 1, number + 1) if has_words else None, None
        elif part.kind == "close" and behind is not None and not behind:
            behind = range(number + 1, number + 1)
        elif part.kind == "open" and _is_apart(part.name):
            if behind is not None:
                is_gap = number in lists or (part.name == "a" and _divides_links(run, behind))
                gap = behind if is_gap else None
            behind, has_words = None, False


def _divides_links(run: Sequence[Part], between: range) -> bool:
    """Return whether links are seen apart in any text: no text or a sign stands between them."""
    text = "".join(run[number].text for number in between if run[number].kind == "text")
    return not text or _SIGN.search(text) is not None


def _is_apart(name: str) -> bool:
    """Return whether elements of a name may be seen apart: links, and elements that a page defines itself."""
    return name == "a" or "-" in name


def _find_lists(run: Sequence[Part]) -> set[int]:
    """Return the opening tags of the elements that may be seen apart and have no text beside them but signs."""
    children: dict[int, list[int]] = {-1: []}
    with_text: set[int] = set()
    around = [-1]
    partner = find_partners(run)
    for number, part in enumerate(run):
        if part.kind in ("text", "code") and not _BETWEEN.fullmatch(part.text):
            with_text.add(around[-1])
        elif _is_apart(part.name) and number in partner:
            if part.kind == "close":
                around.pop()
            else:
                children[around[-1]].append(number)
                children[number] = []
                around.append(number)
    lists = (some for parent, some in children.items() if parent not in with_text)
    return {number for some in lists for number in some}
