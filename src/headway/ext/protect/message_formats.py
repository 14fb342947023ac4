"""The formats of messages: what a program replaces in a text, by the flag that gettext has for each (``c-format``).

Sources: the manual of GNU gettext, "Translators for other languages", and the documentation of each language.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from headway.ext.protect.patterns import PATTERNS, Pattern
from headway.text import Span

_FORMATS = {flag: each for each in PATTERNS if each.kind == "format" for flag in each.name.split()}
_NONE = Pattern("format", "", "")


class Directive(NamedTuple):
    """A part of a message that a program replaces.

    Attributes:
        start: Where it starts in the text that is translated.
        source: What it is.
        takes_next: Whether it takes the value behind that of the directive before it, because it names none.
    """

    start: int
    source: str
    takes_next: bool


class FormattedMessage:
    """A message in which a program replaces something.

    Args:
        message: As the program has it.
        flags: Of gettext, such as ``c-format``; if they name no format that is known, the message has no directives.

    Attributes:
        text: What is translated: no character is written twice in it.
        directives: From left to right.
    """

    __slots__ = ("_escaped", "_format", "directives", "text")

    def __init__(self, message: str, flags: Iterable[str]) -> None:
        formats = (_FORMATS.get(flag.removesuffix("-format")) for flag in flags)
        self._format = next(filter(None, formats), _NONE)
        self.text, self._escaped = message, ""
        self.directives: Sequence[Directive] = ()
        if self._format is _NONE:
            return
        escaped, at, length = self._format.escaped, 0, 0
        parts, between, directives = list[str](), list[str](), list[Directive]()
        for found in re.finditer(self._format.expression, message, re.DOTALL):
            between.append(message[at : found.start()])
            length += len(between[-1])
            is_twice = found[0] == escaped * 2
            # A percent sign is read behind a number only; elsewhere a model could leave it out.
            is_character = is_twice and (escaped != "%" or between[-1].rstrip()[-1:].isdigit())
            if not is_character:
                takes_next = found["index"] is None and not is_twice
                directives.append(Directive(length, found[0], takes_next))
            parts += [between[-1], escaped if is_character else found[0]]
            at, length = found.end(), length + len(parts[-1])
        self.text, self.directives = "".join([*parts, message[at:]]), directives
        # A message with such a character alone has mistakes, which its program may allow.
        is_right = bool(escaped) and not any(escaped in each for each in [*between, message[at:]])
        self._escaped = escaped if is_right else ""

    def write(self, translation: str, places: Mapping[int, Span]) -> str:
        """Return the message that a translation is.

        Directives that take the next value get its number if the translation has them in another order; in a format
        without such numbers they take their order in the source.

        Args:
            translation: Of `text`.
            places: Where it has each directive, by where that starts in the text.
        """
        if any(each.start not in places for each in self.directives):
            return translation  # no placeholders are kept
        written = {each.start: each.source for each in self.directives}
        free = [each for each in self.directives if each.takes_next]
        moved = sorted(free, key=lambda each: places[each.start])
        if moved != free and self._format.numbered:
            numbers = count(1)
            written |= {each.start: _number(each.source, numbers) for each in free}
        elif moved != free:
            written |= {to.start: each.source for to, each in zip(moved, free, strict=True)}
        message, at = "", 0
        for place, directive in sorted(
            (places[start], source) for start, source in written.items()
        ):
            message += self._escape(translation[at : place[0]]) + directive
            at = place[1]
        return message + self._escape(translation[at:])

    def _escape(self, text: str) -> str:
        return text.replace(self._escaped, self._escaped * 2)


def _number(directive: str, numbers: "count[int]") -> str:
    """Return a directive of C with the numbers of its width, its precision and its value."""
    stars = re.sub(r"(?<!')\*", lambda _: f"*{next(numbers)}$", directive)
    return re.sub(r"%\|?", lambda found: f"{found[0]}{next(numbers)}$", stars, count=1)
