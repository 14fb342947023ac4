"""The entries of a message catalog of gettext, with their places in the file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class Group:
    """A keyword with its strings, or a comment: lines of an entry.

    Attributes:
        keyword: Such as ``msgstr[0]``; of a comment its first two characters.
        start: Where its lines start in the file.
        end: Where they end.
        text: What the strings mean; of a comment its line, with the line end.
        strings: Without escapes, but for bytes.
    """

    keyword: str
    start: int
    end: int
    text: str = ""
    strings: list[str] = field(default_factory=list)

    @property
    def flags(self) -> list[str]:
        """The flags that a comment lists, such as fuzzy and c-format."""
        if self.keyword != "#,":
            return []
        return [flag.strip() for flag in self.text[2:].split(",")]


class PoEntry:
    """An entry of a catalog.

    Args:
        line: The number of its first line.
        groups: Translators' notes, references, flags, former texts (``#|``), and the texts of its keywords.

    Attributes:
        ids: The text, and then its plural if it has one.
        strings: The translations: one for each plural form.
        flags: Such as fuzzy and c-format.
    """

    def __init__(self, line: int, groups: Sequence[Group]) -> None:
        self.line, self._groups = line, groups
        self.ids, self.strings = self.find("msgid"), self.find("msgstr")
        self.flags = [flag for group in groups for flag in group.flags]

    def find(self, start: str) -> list[Group]:
        """Return the groups of lines whose keyword begins with some letters, such as ``msgstr``."""
        return [group for group in self._groups if group.keyword.startswith(start)]

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
    entries, at = [(1, list[Group]())], 0  # the first line of each, and its groups
    last: Group | None = None  # the last keyword of the entry
    for number, line in enumerate(re.findall(r"[^\n]*\n|[^\n]+\Z", text), start=1):
        (_, groups), content = entries[-1], line.strip()
        start, at = at, at + len(line)
        is_whole = last is not None and last.keyword.startswith("msgstr")
        if not content or content.startswith("#"):
            if is_whole:
                groups, last = [], None
                entries.append((number + (not content), groups))
            if not content or content.startswith("#~"):  # comments of an obsolete entry
                groups[:] = [group for group in groups if group.keyword.startswith("msg")]
            else:
                groups.append(Group(line[:2], start, at, line))
            continue
        if keyword := _KEYWORD.match(content):
            if is_whole and not keyword[1].startswith("msgstr"):
                entries.append((number, groups := []))
            last = Group(keyword[1], start, at)
            groups.append(last)
            content = content[keyword.end() :]
        if last is None or not _STRINGS.match(content):
            raise HeadwayError(f"line {number}: is no part of a message catalog (.po)")
        last.strings += map(_unescape, _STRING.findall(content))
        last.end = at
    return [
        _make_entry(number, own, encoding)
        for number, own in entries
        if any(group.keyword.startswith("msg") for group in own)
    ]


def _make_entry(line: int, groups: Sequence[Group], encoding: str) -> PoEntry:
    entry = PoEntry(line, groups)
    if len(entry.ids) not in (1, 2) or not entry.strings:
        raise HeadwayError(f"line {line}: an entry needs one msgid, and a msgstr")
    for message in entry.find("msg"):
        message.text = _decode("".join(message.strings), encoding, line)
    return entry


def quote(keyword: str, text: str, line_end: str) -> str:
    """Return the lines of a keyword and its text."""
    lines = text.splitlines(keepends=True) if "\n" in text[:-1] else [text]
    quoted = [f'"{line.translate(_SPECIAL)}"' for line in lines]
    return f"{keyword} " + line_end.join(['""', *quoted] if len(quoted) > 1 else quoted) + line_end


def _unescape(source: str) -> str:
    """Return a string without escapes; a byte is the character that ``surrogateescape`` reads it as."""
    return _ESCAPE.sub(_character, source) if "\\" in source else source


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
