"""Links to the headings of the same file, whose names change with the headings."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from urllib.parse import unquote

# The address in a link, in the definition of one, or in a tag of HTML.
_ADDRESS = re.compile(
    r"""((?:\]\(|\]:)\s*<?#|<a\s[^<>]*?href=["']?#)([^\s()<>"']+)""", re.IGNORECASE
)
_NO_NAME = re.compile(r"[^\w\- ]")


class HeadingNames:
    """The names by which links find the headings of a file, before and after its translation.

    Args:
        headings: The text of each heading, and its translation; they are read if there is a link.
    """

    def __init__(self, headings: Iterable[tuple[str, str]]) -> None:
        self._headings = headings

    @cached_property
    def _names(self) -> dict[str, str]:
        headings = [*self._headings]
        own, other = (_make_names([heading[side] for heading in headings]) for side in (0, 1))
        return dict(zip(own, other, strict=True))

    def follow(self, text: str) -> str:
        """Return Markdown with the new names in its links."""
        return _ADDRESS.sub(self._replace, text) if "#" in text else text

    def _replace(self, found: re.Match[str]) -> str:
        name = self._names.get(unquote(found[2]))
        return found[0] if name is None or name == unquote(found[2]) else found[1] + name


def _make_names(headings: Sequence[str]) -> list[str]:
    """Return the names of headings as GitHub makes them: one that another heading has gets a number."""
    counts = Counter[str]()
    names = []
    for heading in headings:
        name = _NO_NAME.sub("", heading.strip().lower()).replace(" ", "-")
        names.append(f"{name}-{counts[name]}" if counts[name] else name)
        counts[name] += 1
    return names
