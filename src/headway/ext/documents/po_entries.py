"""The entries of a message catalog of gettext, with their places in the file."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from headway.errors import HeadwayError
from headway.ext.documents.text_file import check_count

_KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?)\s*(?=")')
_STRINGS = re.compile(r'(?:"(?:[^"\\]|\\.)*+"\s*+)++\Z')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)(?:"|\\?\Z)', re.DOTALL)  # what has no end is read once
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_SPECIAL = {ord(character): f"\\{letter}" for letter, character in _ESCAPED.items()} | {
    ord("\\"): "\\\\", ord('"'): '\\"'
}  # fmt: skip


@dataclass
class Message:
    """A keyword, its strings, where its lines start and end in the file, and its text."""

    keyword: str
    start: int
    end: int
    lines: list[str] = field(default_factory=list)
    text: str = ""


class Comment(NamedTuple):
    """A line that starts with ``#``, with its line end, and where it is in the file."""

    start: int
    end: int
    line: str

    @property
    def flags(self) -> list[str]:
        """The flags that it lists, such as fuzzy and c-format."""
        listed = self.line[2:].split(",") if self.line.startswith("#,") else []
        return [flag.strip() for flag in listed]


@dataclass
class PoEntry:
    """An entry of a catalog.

    Attributes:
        line: The number of its first line.
        comments: Translators' notes, references, flags, and former texts (``#|``).
        messages: The texts of its keywords.
    """

    line: int
    comments: list[Comment] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    @property
    def context(self) -> str:
        """What distinguishes the entry from others of the same text."""
        return next((m.text for m in self.messages if m.keyword == "msgctxt"), "")

    @cached_property
    def ids(self) -> list[Message]:
        """The text, and then its plural if it has one."""
        return [m for m in self.messages if m.keyword.startswith("msgid")]

    @cached_property
    def strings(self) -> list[Message]:
        """The translations: one for each plural form."""
        return [m for m in self.messages if m.keyword.startswith("msgstr")]

    @property
    def is_translated(self) -> bool:
        """Whether every plural form has a translation."""
        return all(string.text for string in self.strings)

    @cached_property
    def flags(self) -> list[str]:
        """Its flags, such as fuzzy and c-format."""
        return [flag for comment in self.comments for flag in comment.flags]

    @property
    def is_fuzzy(self) -> bool:
        """Whether the translation is marked as a guess."""
        return "fuzzy" in self.flags


def read_entries(text: str, encoding: str) -> list[PoEntry]:
    """Return the entries of a catalog, without the obsolete ones, which are comments.

    Args:
        text: The catalog.
        encoding: Its encoding, of which a string may have single bytes (``\\303\\251``).

    Raises:
        HeadwayError: If a line is no part of a catalog, or an entry has no text or no translation.
    """
    check_count(text.count("\n"), "lines")
    entries = [PoEntry(1)]
    at = 0
    for number, line in enumerate(re.findall(r"[^\n]*\n|[^\n]+\Z", text), start=1):
        entry, content = entries[-1], line.strip()
        start, at = at, at + len(line)
        is_whole = bool(entry.messages) and entry.messages[-1].keyword.startswith("msgstr")
        if not content or content.startswith("#"):
            if is_whole:
                entries.append(entry := PoEntry(number + (not content)))
            if not content or content.startswith("#~"):  # comments of an obsolete entry
                entry.comments.clear()
            else:
                entry.comments.append(Comment(start, at, line))
            continue
        keyword = _KEYWORD.match(content)
        if keyword:
            if is_whole and not keyword[1].startswith("msgstr"):
                entries.append(entry := PoEntry(number))
            entry.messages.append(Message(keyword[1], start, at))
            content = content[keyword.end() :]
        if not _STRINGS.match(content) or not entry.messages:
            raise HeadwayError(f"line {number}: is no part of a message catalog (.po)")
        entry.messages[-1].lines += map(_unescape, _STRING.findall(content))
        entry.messages[-1].end = at
    entries = [entry for entry in entries if entry.messages]
    for entry in entries:
        if len(entry.ids) not in (1, 2) or not entry.strings:
            raise HeadwayError(f"line {entry.line}: an entry needs one msgid, and a msgstr")
        for message in entry.messages:
            message.text = _decode("".join(message.lines), encoding, entry.line)
    return entries


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


def _decode(text: str, encoding: str, line: int) -> str:
    """Return the text of strings in which bytes are escaped; see `_unescape`.

    Args:
        text: The strings.
        encoding: That of the bytes.
        line: The number of the entry's first line.
    """
    try:
        return text.encode(encoding, "surrogateescape").decode(encoding)
    except UnicodeError:
        raise HeadwayError(
            f"line {line}: an entry has bytes that are no text in {encoding}"
        ) from None
