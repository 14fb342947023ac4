"""Damaged and hostile packages, and what must be the same in a package before and after a translation."""

import io
import random
import re
import struct
import zipfile
from collections import Counter
from collections.abc import Callable
from xml.etree import ElementTree

from support.office_packages import write_zip

Damage = Callable[[bytes, random.Random], bytes]

# Runs and spans, which may be merged, and marks that say nothing about a translation.
_RUNS = {
    "r", "t", "rPr", "proofErr", "lastRenderedPageBreak", "softHyphen", "noBreakHyphen", "span", "s", "soft-page-break",
    "phoneticPr", "rPh",
}  # fmt: skip
_XML = (".xml", ".rels", ".opf", ".ncx", ".xhtml")
_ENTITIES = (
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1/x"> %p;]>',
)


def compare_packages(data: bytes, written: bytes) -> str:
    """Return what else than text differs in two packages, or an empty text."""
    first, second = (zipfile.ZipFile(io.BytesIO(each)) for each in (data, written))
    if second.testzip() is not None:
        return "a damaged member"
    if first.namelist() != second.namelist():
        return "other members"
    for one, other in zip(first.infolist(), second.infolist(), strict=True):
        if (one.date_time, one.compress_type) != (other.date_time, other.compress_type):
            return f"{one.filename}: another date or packing"
        before, after = first.read(one), second.read(other)
        if before == after:
            if one.CRC != other.CRC or one.compress_size != other.compress_size:
                return f"{one.filename}: was packed again"
        elif one.filename.endswith(".xlsx"):
            if difference := compare_packages(before, after):
                return f"{one.filename}: {difference}"
        elif not one.filename.endswith(_XML):
            return f"{one.filename}: other bytes"
        elif difference := _compare_elements(before, after):
            return f"{one.filename}: {difference}"
    return ""


def _compare_elements(before: bytes, after: bytes) -> str:
    counts = []
    for data in (before, after):
        names: Counter[str] = Counter()
        elements = [ElementTree.fromstring(data)]
        while elements:
            element = elements.pop()
            name = element.tag.rpartition("}")[2]
            names[name] += name not in _RUNS
            elements += [] if name in ("rPr", "rPh") else [*element]
        counts.append(names)
    others = [+(one - other) for one, other in (counts, counts[::-1])]
    return f"other elements: {others}" if any(others) else ""


def _read(data: bytes) -> list[tuple[str, str | bytes]]:
    package = zipfile.ZipFile(io.BytesIO(data))
    return [(name, package.read(name)) for name in package.namelist()]


def _main(members: list[tuple[str, str | bytes]]) -> int:
    """Return the number of the member with most text."""
    texts = re.compile(r"(document|slide1|sharedStrings|content)\.xml|chapter 0\.xhtml")
    return next(n for n, (name, _) in enumerate(members) if texts.search(name))


def _with_content(change: Callable[[bytes], bytes]) -> Damage:
    """Return a function that changes the part with most text."""

    def apply(data: bytes, chooser: random.Random) -> bytes:
        members = _read(data)
        number = _main(members)
        name, content = members[number]
        assert isinstance(content, bytes)
        members[number] = name, change(content)
        return write_zip(members)

    return apply


def _inside(content: bytes, inner: bytes) -> bytes:
    """Return a part with something else in its root element."""
    root = re.search(rb"<\w[^>]*>", content)
    assert root is not None
    return content[: root.end()] + inner + content[content.rindex(b"</") :]


def _with_bomb(name: str, size: int) -> Damage:
    """Return a function that adds a member, or fills the part with most text, with zeros."""

    def apply(data: bytes, chooser: random.Random) -> bytes:
        members = _read(data)
        bomb = name or members[_main(members)][0]
        out = io.BytesIO(write_zip([(each, content) for each, content in members if each != bomb]))
        with (
            zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as package,
            package.open(bomb, "w") as file,
        ):
            for _ in range(size >> 20):
                file.write(b" " * (1 << 20))
        return out.getvalue()

    return apply


def _with_member(name: str) -> Damage:
    def apply(data: bytes, chooser: random.Random) -> bytes:
        placeholder = "x" * len(name.encode())
        written = write_zip([*_read(data), (placeholder, b"x")])
        return written.replace(placeholder.encode(), name.encode())

    return apply


def _with_number(mark: bytes, offset: int, form: str, value: int) -> Damage:
    """Return a function that changes a number in each entry of the directory (PK12), or at its end (PK56)."""

    def apply(data: bytes, chooser: random.Random) -> bytes:
        changed = bytearray(data)
        for found in re.finditer(re.escape(mark), data):
            struct.pack_into(form, changed, found.start() + offset, value)
        return bytes(changed)

    return apply


def _crowd(data: bytes, chooser: random.Random) -> bytes:
    return write_zip([*_read(data), *((f"x/{number}", b"") for number in range(10_000))])


def _truncate(data: bytes, chooser: random.Random) -> bytes:
    return data[: chooser.randrange(len(data))]


def _locate(data: bytes, chooser: random.Random) -> bytes:
    at = data.rindex(b"PK\5\6")
    return data[:at] + struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1) + data[at:]


def _with_type(declaration: str) -> Damage:
    def change(content: bytes) -> bytes:
        head, end, rest = content.partition(b"?>")
        rest = rest.replace(b"<!DOCTYPE html>", b"", 1)
        return head + end + declaration.encode() + rest

    return _with_content(change)


# What must be refused.
HOSTILE: list[Damage] = [
    _truncate,
    *map(_with_type, _ENTITIES),
    _with_bomb("", 25 << 20), _with_bomb("media/x.png", 12 << 20), _with_bomb("x/y.xml", 12 << 20),
    _with_member("../evil.xml"), _with_member("/etc/evil"), _with_member("C:/evil.xml"), _with_member("a/../../evil"),
    _with_member("a\\..\\evil"), _with_member("a\0evil"),
    _with_number(b"PK\1\2", 8, "<H", 1), _with_number(b"PK\1\2", 10, "<H", 99), _with_number(b"PK\1\2", 20, "<L", 1 << 31), _with_number(b"PK\1\2", 24, "<L", (1 << 32) - 2),
    _with_number(b"PK\1\2", 24, "<L", 7), _with_number(b"PK\1\2", 42, "<L", 1 << 30), _with_number(b"PK\1\2", 42, "<L", 0),
    _with_number(b"PK\5\6", 12, "<L", (1 << 32) - 1), _with_number(b"PK\5\6", 12, "<L", 1 << 24), _with_number(b"PK\5\6", 16, "<L", 1 << 30), _locate, _crowd,
    _with_content(lambda content: b"\xff" + content),
    _with_content(lambda content: _inside(content, b"<a>" * 100_000 + b"</a>" * 100_000)),
    _with_content(lambda content: _inside(content, b"<a/>" * 700_000)),
    lambda data, chooser: b"\xd0\xcf\x11\xe0" + data,
    lambda data, chooser: b"",
    lambda data, chooser: data + data[: len(data) // 2] + b"PK\5\6",
    lambda data, chooser: data[: data.rindex(b"PK\5\6")] * 2 + data[data.rindex(b"PK\5\6") :][:10],
]  # fmt: skip
# The same, but for books, whose chapters are HTML: anything is.
ILL_FORMED: list[Damage] = [
    _with_content(lambda content: content[: len(content) // 2]),
    _with_content(lambda content: content.replace(b"</", b"<", 1)),
    lambda data, chooser: write_zip([each for each in _read(data) if "ontent" not in each[0]]),
]


def damage_package(data: bytes, chooser: random.Random, damage: Damage, is_book: bool) -> tuple[bytes, int]:  # fmt: skip
    """Return a damaged package, and the number of its damage if it must be refused, or -1.

    Args:
        data: A package.
        chooser: Chooses the damage.
        damage: Makes a few mistakes anywhere in some bytes.
        is_book: Whether ill-formed parts are accepted.
    """
    kind = chooser.randrange(4)
    if kind == 0:
        return damage(data, chooser), -1
    if kind == 1:  # in a part
        members = _read(data)
        number = chooser.randrange(len(members))
        name, content = members[number]
        assert isinstance(content, bytes)
        members[number] = name, damage(content, chooser)
        return write_zip(members), -1
    hostile = HOSTILE + ([] if is_book else ILL_FORMED)
    number = chooser.randrange(len(hostile))
    return hostile[number](data, chooser), number
