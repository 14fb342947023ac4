"""Compare two directories of answers, apart from the listed changes."""

import difflib
import re
import tomllib
import zipfile
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from xml.etree.ElementTree import canonicalize

CHANGES = Path(__file__).with_name("changes.toml")
SHOWN = 160  # characters of a line that are printed


@dataclass(frozen=True)
class Difference:
    """A line that differs; None: the side has no such line."""

    file: str
    number: int
    before: str | None
    after: str | None

    def __str__(self):
        """Return both lines, from shortly before the first character that differs."""
        pair = zip_longest(self.before or "", self.after or "")
        first = next((place for place, (one, other) in enumerate(pair) if one != other), 0)
        start = max(0, first - SHOWN // 4)
        before, after = (
            "(none)" if line is None else repr(line[start : start + SHOWN])
            for line in (self.before, self.after)
        )
        return f"{self.file}:{self.number}: before {before} after {after}"


@dataclass
class Change:
    """A difference that is meant.

    Args:
        file: Pattern of names, such as ``help/*.txt``.
        reason: Why the answer changed.
        before: Regular expression that is found in the line of the older side; empty: that side has no such line.
        after: The same of the newer side.
    """

    file: str
    reason: str
    before: str = ""
    after: str = ""
    seen: bool = field(default=False, init=False)

    def covers(self, found):
        """Return whether the change explains a difference."""
        sides = ((self.before, found.before), (self.after, found.after))
        return fnmatchcase(found.file, self.file) and all(
            re.search(pattern, line)
            if pattern and line is not None
            else not pattern and line is None
            for pattern, line in sides
        )


def read_changes(path):
    """Read the list of meant differences."""
    return [Change(**row) for row in tomllib.loads(path.read_text("utf-8")).get("change", [])]


def report(before, after, sections, changes):
    """Compare the sections of two directories.

    Args:
        before: Directory with a directory for each section.
        after: The same of the other side.
        sections: Names of the sections that are compared.
        changes: Differences that are meant.

    Returns:
        A line for each difference that is not meant, and for each listed change that did not occur.
    """
    lines, sections = [], list(sections)
    for section in sections:
        for found in differences(before, after, section):
            meant = [change for change in changes if change.covers(found)]
            for change in meant:
                change.seen = True
            if not meant:
                lines.append(str(found))
    for change in changes:
        ran = any(fnmatchcase(section, change.file.split("/")[0]) for section in sections)
        if ran and not change.seen:
            lines.append(
                f"{CHANGES.name}: {change.file}, {change.before or change.after!r}: no longer occurs"
            )
    return lines


def differences(before, after, section):
    """Yield the differences of a section, file by file."""
    names = {
        path.relative_to(side).as_posix()
        for side in (before, after)
        for path in (side / section).rglob("*")
        if path.is_file()
    }
    for name in sorted(names):
        contents = [path.read_bytes() if path.is_file() else None for path in (before / name, after / name)]  # fmt: skip
        yield from compare_contents(name, *contents)


def compare_contents(name, before, after):
    """Yield the differences of two files; None: there is no such file."""
    if before == after:
        return
    one, other = before or b"", after or b""
    if all(content[:2] == b"PK" for content in (one, other)):
        members = [read_members(content) for content in (one, other)]
        for member in sorted(members[0].keys() | members[1].keys()):
            yield from compare_contents(
                f"{name}/{member}", *(found.get(member) for found in members)
            )
        if list(members[0]) != list(members[1]):
            yield Difference(name, 0, *(" ".join(found) for found in members))
    elif is_text(one) and is_text(other):
        yield from compare_lines(name, read_lines(before), read_lines(after))
    else:
        yield Difference(name, 0, *(content if content is None else describe(content) for content in (before, after)))  # fmt: skip


def compare_lines(name, before, after):
    """Yield the lines that differ: line by line in files of one length, else where lines came or went."""
    blocks = [("replace", 0, len(before), 0, len(after))]
    if len(before) != len(after):
        blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for kind, low, high, other_low, other_high in blocks:
        if kind == "equal":
            continue
        pairs = zip_longest(before[low:high], after[other_low:other_high])
        for number, (one, other) in enumerate(pairs, low + 1):
            if one != other:
                yield Difference(name, number, one, other)


def read_members(content):
    """Return the files of an archive, in its order; how XML is written, such as with which quotes, does not count."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    return {
        name: canonicalize(each.decode()).encode() if name.endswith(".xml") else each
        for name, each in found.items()
    }


def read_lines(content):
    """Return the lines of a file with their ends, so that an end that is missing or another is a difference."""
    return [] if content is None else content.decode().split("\n")


def is_text(content):
    """Return whether a file is text."""
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False


def describe(content):
    """Return a line that stands for a file that is no text."""
    return f"{len(content)} bytes, sha256 {sha256(content).hexdigest()}"
