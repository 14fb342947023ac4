"""The formats of messages: what a program replaces in a text, by the flag that gettext has for each (``c-format``).

Sources: the manual of GNU gettext, "Translators for other languages", and the documentation of each language.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import count
from typing import NamedTuple

from headway.ext.protect.units import UNITS
from headway.text import Span

# Letters that a conversion touches belong to it: %ds, %dMB, %sth. A capital begins a word: %nTwo.
_ENDING = rf"(?:(?=[^\W\d_])(?:{UNITS})(?!\w)|[a-z]*)"
_INDEX = r"\d++\$"
_WIDTH = r"(?:\d++|\*(?:\d+\$)?)?"
_SIZE = r"hh?|ll?|[LqjztZ]|wf?\d+"  # of numbers in C


class MessageFormat(NamedTuple):
    """How the messages of a programming language say what is replaced.

    Attributes:
        directive: Matches what is replaced; its group ``index`` takes part if that names its value, or takes none.
        escaped: The character that is written twice where it means itself; "": there is none.
        is_numbered: Whether a directive may have the number of its value, as in ``%2$s``.
    """

    directive: str
    escaped: str = ""
    is_numbered: bool = False


def _percent(
    letters: str = "[A-Za-z]", index: str = _INDEX, flags: str = "[-+ #0']", size: str = _SIZE
) -> MessageFormat:
    """Return a format like that of C: ``%``, the index of a value, flags, width, precision, size, and a letter."""
    number = rf"(?:{flags})*+{_WIDTH}(?:\.{_WIDTH})?(?:{size})?"
    directive = rf"%%|%(?P<index>{index})?{number}(?:(?:{letters}){_ENDING}|%)"
    return MessageFormat(directive, "%", _INDEX in index)


_LETTERS_OF_C = r"[A-Za-z]|<PRI\w+>"
_C = _percent(_LETTERS_OF_C, rf"{_INDEX}|(?=m)", "[-+ #0'I]")
_NUMBERED = MessageFormat(r"%(?P<index>L?(?:\d{1,2}|n)|%)")
_INNER = r"[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+"
_BRACES = MessageFormat(rf"(?=(?P<index>[{{}}][^:!}}]|\}}\}})?)(?:\{{\{{|\}}\}}|\{{{_INNER}\}})")
_TILDE = r"~(?:(?:[-+]?\d++|'.|[vV#])?,)*+(?:[-+]?\d++|'.|[vV#])?[:@]*+(?:/[\w:%-]+/|\n\s*|.)"
_LISP = MessageFormat(rf"(?P<index>(?!))?{_TILDE}", "~")
_GCC = _percent(r"[^\s\d%]", rf"{_INDEX}|(?=[m<>'R{{}}])", "[-+#q]", "[lwhzt]{1,2}")
_FORMATS = {
    **dict.fromkeys(("awk", "elisp", "librep", "tcl"), _percent()),
    **dict.fromkeys(("lua", "modula2", "ocaml"), _percent("[A-Za-z!@]", "(?!)")),
    **dict.fromkeys(("javascript", "php"), _percent(flags=r"[-+ 0]|'.")),
    **dict.fromkeys(("gcc-internal", "gfc-internal"), _GCC),
    **dict.fromkeys(("qt", "qt-plural", "kde", "kde-kuit"), _NUMBERED),
    **dict.fromkeys(("python-brace", "perl-brace", "csharp", "c++", "rust"), _BRACES),
    **dict.fromkeys(("lisp", "scheme"), _LISP),
    "c": _C,
    "objc": _percent(rf"{_LETTERS_OF_C}|@\w+@|@", rf"{_INDEX}|(?=m)", "[-+ #0'I]"),
    "python": _percent(index=r"\([^()]*+\)"),
    "java": MessageFormat(rf"(?P<index>''|'\{{[^']*+'?|\{{{_INNER}\}})", "'"),
    "java-printf": _percent(r"[tT]?[A-Za-z]", rf"{_INDEX}|<|(?=n)", r"[-+ #0,(]"),
    "perl": _percent(flags=r"[-+ #0]|(?:\*(?:\d+\$)?)?v", size=rf"{_SIZE}|V"),
    "object-pascal": _percent(index=r"\d*+:", flags="-"),
    "ruby": _percent(
        r"[A-Za-z]|\{[^{}]*+\}", rf"{_INDEX}|(?=[^A-Za-z%{{<]*+[<{{])", r"[-+ #0]|<\w+>", r"<\w+>"
    ),
    "go": _percent(index=r"\[\d+\]", size=r"\[\d+\]"),
    "d": _percent("[A-Za-z()|]"),
    "boost": _percent(
        r"[A-Za-z]\|?|\|", rf"\|?{_INDEX}|\d+(?=%)|(?=\|\d+t)", r"(?<=%)\||[-+ #0=_]", size="[hlL]"
    ),
    "ycp": _NUMBERED._replace(escaped="%"),
    "smalltalk": MessageFormat(r"%(?P<index>[\dA-Z%]|<[^<>]*+>\d?)", "%"),
    "sh": MessageFormat(r"\$(?P<index>\w+|\{[^{}]*+\})"),
}  # fmt: skip

# For text without a named format: directives that ordinary text seldom has. In "5 %discount", % is a percent sign.
_GROUPED = r"'(?:(?=[\d.*l]*+[diufFgG](?![^\W\d_]))|[^\w\s](?=\d))"  # %'d and %'.10d, but not %'s
_CONVERSION = rf"(?:{_INDEX}|<\w+>)?(?:[-+#0,]|{_GROUPED})*+{_WIDTH}(?:\.(?=[\d*]){_WIDTH})?(?:hh?|ll?|[Lqjzt])?(?:[diouxXeEfFgGcspn]|<PRI\w+>|@\w+@|@)"
LINE_DIRECTIVES = (
    rf"(?<![\d%])%\(\w+\)[-+#0]*+\d*+(?:\.\d++)?[a-zA-Z]{_ENDING}",
    rf"(?<![\w%])%(?!{_CONVERSION}(?:%|\w+%(?:%|{_CONVERSION})))[A-Za-z_]\w*%",
    rf"(?<![\d%])%{_CONVERSION}(?![A-Za-z])(?:%%)?",
    rf"(?<![\d%])(?<!\d[ \u00a0\u202f])%(?:{_CONVERSION}{_ENDING}|(?:{_INDEX})?(?:[aAmCS]|t[A-Za-z])(?!\w))",
    r"(?<![\w%])%L?\d{1,2}(?![\w%])",  # of Qt
    r"(?<![\w%])%(?:\d{1,2}%|\|[^|\s]+\|)",  # of Boost
    r"\\\((?a:[A-Za-z_][\w.]*)\)",  # of Swift
    r"(?<!\d)%%",
)


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

    def __init__(self, message: str, flags: Iterable[str]) -> None:
        formats = (_FORMATS.get(flag.removesuffix("-format")) for flag in flags)
        self._format = next(filter(None, formats), MessageFormat("(?!)"))
        self.directives: list[Directive] = []
        escaped, at, length = self._format.escaped, 0, 0
        parts, between = list[str](), list[str]()
        for found in re.finditer(self._format.directive, message, re.DOTALL):
            between.append(message[at : found.start()])
            length += len(between[-1])
            is_twice = found[0] == escaped * 2
            # A percent sign is read behind a number only; elsewhere a model could leave it out.
            is_character = is_twice and (escaped != "%" or between[-1].rstrip()[-1:].isdigit())
            if not is_character:
                takes_next = found["index"] is None and not is_twice
                self.directives.append(Directive(length, found[0], takes_next))
            parts += [between[-1], escaped if is_character else found[0]]
            at, length = found.end(), length + len(parts[-1])
        self.text = "".join([*parts, message[at:]])
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
        if moved != free and self._format.is_numbered:
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
