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
    """Yield the differences of a section: line by line in files of one length, else where lines came or went."""
    sides = [read_files(side / section) for side in (before, after)]
    for name in sorted(sides[0].keys() | sides[1].keys()):
        one, other = (side.get(name, []) for side in sides)
        blocks = [("replace", 0, len(one), 0, len(other))]
        if len(one) != len(other):
            blocks = difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
        for kind, low, high, other_low, other_high in blocks:
            pairs = zip_longest(one[low:high], other[other_low:other_high])
            for number, pair in enumerate(pairs, low + 1) if kind != "equal" else ():
                if pair[0] != pair[1]:
                    yield Difference(name, number, *pair)


def read_files(folder):
    """Return the lines of each file below a directory, and of each file in an archive there, by its name."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {
        name: lines
        for path in paths
        for name, lines in read_lines(path.relative_to(folder.parent).as_posix(), path.read_bytes())
    }


def read_lines(name, content):
    """Yield the names and lines of a file: an end that is missing or another is a difference.

    An archive has the names of its files, in their order, and the lines of each; how XML is written, such as with which
    quotes, does not count. What is no text is one line.
    """
    if content[:2] == b"PK":
        with zipfile.ZipFile(BytesIO(content)) as archive:
            yield name, [" ".join(archive.namelist())]
            for member in archive.namelist():
                found = archive.read(member)
                if member.endswith(".xml"):
                    found = canonicalize(found.decode()).encode()
                yield from read_lines(f"{name}/{member}", found)
    else:
        try:
            lines = content.decode().split("\n")
        except UnicodeDecodeError:
            lines = ["\0"]
        if "\0" in "".join(lines):
            lines = [f"{len(content)} bytes, sha256 {sha256(content).hexdigest()}"]
        yield name, lines
