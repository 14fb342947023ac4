"""Backslashes before characters that would become markup of Markdown.

What a passage has without a backslash keeps having none: a template engine may read ``${name}``, but not
``\\${name}``.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from headway.ext.documents.blocks import Part
from headway.ext.documents.markdown.parser import find_marker

_SPECIAL = re.compile(  # of # the first of those that could end a heading
    r"\\(?=[!-/:-@\[-`{-~]|\Z)|[`*\[\]$]|<(?=[a-zA-Z/!?]|\Z)|(?<!\w)_|_(?!\w)|~(?=~)|&(?=#?\w+;)|(?<=\s)#(?=#*\s*\Z)"
)
_INDENTATION = re.compile(r"\A(?: {4}| {0,3}\t)\s*")  # of code
_BLOCK_START = re.compile(
    r"\A(\s*)(?:([-+:](?=\s|\Z)|[-=]+(?=\s*\Z)|#{1,6}(?=\s|\Z)|>|~~~|:::|!!!|\?\?\?|===)|(\d{1,9})([.)])(?=\s|\Z))"
)
_END = Part("break", "")


class Escapes:
    """The backslashes of a passage.

    Args:
        parts: The passage; without any, every special character gets a backslash.
    """

    def __init__(self, parts: Sequence[Part] = ()) -> None:
        # Whether a character has one; and whether it has one before a certain other character, because \$5 and ${name}
        # can stand in one passage.
        self._is_escaped: dict[str, bool] = {}
        for part, following in pairwise([*parts, _END]):
            if part.kind == "text":
                has_one = len(part.text) == 1 and part.source != part.text
                self._add(part.text, following.text[:1], has_one)

    def _add(self, text: str, following: str, has_one: bool) -> None:
        for found in _SPECIAL.finditer(text):
            behind = text[found.end() : found.end() + 1] or following
            for key in {found[0], found[0] + behind}:
                self._is_escaped[key] = self._is_escaped.get(key, False) or has_one

    def escape(self, text: str) -> str:
        """Return a text with backslashes before special characters.

        A character that the passage lacks gets one, too.
        """

        def replace(found: re.Match[str]) -> str:
            pair = text[found.start() : found.end() + 1]
            has_one = self._is_escaped.get(pair, self._is_escaped.get(found[0], True))
            return f"\\{found[0]}" if has_one else found[0]

        return _SPECIAL.sub(replace, text)


def escape_start(text: str, source: str) -> str:
    """Return the first text of a block without what would begin another one, such as a list.

    Args:
        text: The text.
        source: The block as it stands in the file. If it begins with the same mark, such as ``1.`` in a heading, the mark
            begins nothing there.
    """
    text = _INDENTATION.sub("", text)
    own, found = _BLOCK_START.match(source), _BLOCK_START.match(text)
    is_own = own and found and own.group(2, 4) == found.group(2, 4)
    if not found or (is_own and not find_marker(text.strip())):
        return text
    space, mark, number, end = found.groups()
    escaped = f"\\{mark}" if mark else f"{number}\\{end}"
    return f"{space}{escaped}{text[found.end() :]}"
