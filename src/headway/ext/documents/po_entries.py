"""The entries of a message catalog of gettext, with their places in the file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from headway.errors import HeadwayError
from headway.ext.documents.text_file import check_count

_STRING = r'"((?:[^"\\\n]|\\.)*+)"'
_STRINGS = re.compile(
    _STRING + "?+"
)  # of what _GROUP has found; linear in any text, because none fails
# Empty lines, and then a comment, or a keyword with its strings, to the end of the line.
_GROUP = re.compile(
    rf"""
    (?P<empty>(?:[^\S\n]*+\n)*+) [^\S\n]*+ (?:
        (?P<comment>\#[^\n]*+)
        | (?P<keyword>msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?)
          \s*+ (?P<strings>{_STRING}(?:\s*+{_STRING})*+) [^\S\n]*+
    ) (?:\n|\Z)
    """,
    re.VERBOSE,
)
_COMMENT = re.compile(
    r"(?P<mark>#[,|])(?P<content>(?:[^\S\n]*+\S++)*+)(?P<ending>[^\S\n]*+(?:\n|\Z))"
)
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_SPECIAL = {ord(character): f"\\{letter}" for letter, character in _ESCAPED.items()} | {
    ord("\\"): "\\\\", ord('"'): '\\"'
}  # fmt: skip


class PoString(NamedTuple):
    """A translation: its keyword, such as ``msgstr[0]``, where its lines are in the file, and what its strings mean."""

    keyword: str
    start: int
    end: int
    text: str


@dataclass(slots=True)
class PoEntry:
    """An entry of a catalog.

    Attributes:
        catalog: The whole catalog.
        comments: Where the comments before the entry start in it.
        start: Where the line of its first keyword starts.
        flags: Such as fuzzy and c-format.
        context: What tells the entry from others of the same text.
        ids: The text, and then its plural if it has one.
        strings: The translations: one for each plural form.
    """

    catalog: str
    comments: int
    start: int
    flags: Sequence[str]
    context: str = ""
    ids: list[str] = field(default_factory=list)
    strings: list[PoString] = field(default_factory=list)

    @property
    def is_fuzzy(self) -> bool:
        """Whether the translation is marked as a guess."""
        return "fuzzy" in self.flags

    def find_comments(self, mark: str) -> list[re.Match[str]]:
        """Return the comments with flags (``#,``) or of a former text (``#|``): ``content`` is what they say."""
        found = _COMMENT.finditer(self.catalog, self.comments, self.start)
        return [each for each in found if each["mark"] == mark]


def read_flags(content: str) -> list[str]:
    """Return the flags in a comment, without its mark."""
    return [flag.strip() for flag in content.split(",")]


def read_entries(text: str, encoding: str) -> list[PoEntry]:
    """Return the entries of a catalog, without the obsolete ones, which are comments.

    Args:
        text: The catalog.
        encoding: Its encoding, of which a string may have single bytes (``\\303\\251``).

    Raises:
        HeadwayError: If a line is no part of a catalog, or an entry has no text or no translation.
    """
    check_count(text.count("\n"), "lines")
    entries = list[PoEntry]()
    entry: PoEntry | None = None  # that is read
    at = comments = 0
    flags: Sequence[str] = ()
    while found := _GROUP.match(text, at):
        start, at = found.end("empty"), found.end()
        comment, keyword = found["comment"], found["keyword"] or ""
        is_behind = entry is not None and entry.strings and not keyword.startswith("msgstr")
        if is_behind or (entry is None and found["empty"]):
            entry, comments, flags = None, start, ()
        if comment:
            if comment.startswith("#,"):
                flags = (*flags, *read_flags(comment[2:]))
            elif comment.startswith("#~"):  # of an obsolete entry
                comments, flags = at, ()
            continue
        if entry is None:
            entry = PoEntry(text, comments, start, flags)
            entries.append(entry)
        content = _read_strings(found, encoding)
        if keyword == "msgctxt":
            entry.context = content
        elif keyword.startswith("msgid"):
            entry.ids.append(content)
        else:
            entry.strings.append(PoString(keyword, start, at, content))
    if rest := text[at:].lstrip():
        line = _find_line(text, len(text) - len(rest))
        raise HeadwayError(f"line {line}: is no part of a message catalog (.po)")
    for entry in entries:
        if len(entry.ids) not in (1, 2) or not entry.strings:
            line = _find_line(text, entry.comments)
            raise HeadwayError(f"line {line}: an entry needs one msgid, and a msgstr")
    return entries


def _find_line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _read_strings(found: re.Match[str], encoding: str) -> str:
    """Return what the strings of a keyword mean: an escape may stand for a byte of a character."""
    strings = _STRINGS.findall(found["strings"])
    if "\\" not in found["strings"]:
        return "".join(strings)
    text = "".join(map(_unescape, strings))
    try:
        return text.encode(encoding, "surrogateescape").decode(encoding)
    except UnicodeError:
        line = _find_line(found.string, found.end("empty"))
        raise HeadwayError(
            f"line {line}: an entry has bytes that are no text in {encoding}"
        ) from None


def quote(keyword: str, text: str, line_end: str) -> str:
    """Return the lines of a keyword and its text."""
    lines = text.splitlines(keepends=True) if "\n" in text[:-1] else [text]
    quoted = [f'"{line.translate(_SPECIAL)}"' for line in lines]
    return f"{keyword} " + line_end.join(['""', *quoted] if len(quoted) > 1 else quoted) + line_end


def _unescape(source: str) -> str:
    """Return a string without escapes; a byte is the character that ``surrogateescape`` reads it as."""
    return _ESCAPE.sub(_character, source)


def _character(escape: re.Match[str]) -> str:
    found = escape[1]
    if found[0] in "01234567":
        return _byte(int(found, 8))
    if found[0] == "x" and len(found) > 1:
        return _byte(int(found[1:], 16))
    return _ESCAPED.get(found, found)


def _byte(value: int) -> str:
    return bytes([value & 255]).decode("ascii", "surrogateescape")
