"""How a format of Office Open XML writes runs of text."""

import re
from collections.abc import Callable
from dataclasses import dataclass

BARE = "bare"  # the style of text that stands in no run, in a cell
_SPACE = re.compile(r"[\t\n\r]")


@dataclass(frozen=True)
class RunDialect:
    """How a format writes paragraphs.

    Attributes:
        breaks: Elements that are line breaks or tabs.
        new_break: How a new line break is written, ``{0}`` being the prefix; "": as a character.
        has_breaks_in_runs: Whether a line break stands in a run.
        dropped: Elements that say nothing about a translation, such as marks of the spelling check.
        heads: Elements before the content.
        tails: Elements behind the content.
        wrappers: Elements around runs.
        holders: Elements in wrappers that hold the content.
        attached: Elements that describe the wrapper around them.
        described: Wrappers with such elements.
        numbered: Wrappers whose identifiers differ where nothing else does.
        transparent: Elements around runs or text whose tags a translation lacks.
        ranges: Names of pairs of elements that mark a range.
        kept: Wrappers that are fields: their text stays unless it is text of the document.
        formulas: Elements whose text stays as it is, and stands for a word.
        characters: Elements that are written as a character.
        is_trimmed: Whether space at the ends of a text counts only with ``xml:space="preserve"``.
        normalize: Return the key of a run's properties.
        read: Return what the characters of a text mean.
        write: Return the characters of a text.
    """

    normalize: Callable[[str], str]
    breaks: frozenset[str] = frozenset()
    new_break: str = ""
    has_breaks_in_runs: bool = True
    dropped: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()
    tails: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    holders: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    described: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    transparent: frozenset[str] = frozenset()
    ranges: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    formulas: frozenset[str] = frozenset()
    characters: tuple[tuple[str, str], ...] = ()
    is_trimmed: bool = True
    read: Callable[[str], str] = lambda text: _SPACE.sub(" ", text)
    write: Callable[[str], str] = lambda text: text
