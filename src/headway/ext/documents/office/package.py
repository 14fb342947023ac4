"""ZIP packages, such as office files: members are read within limits, and some replaced; all others keep their bytes."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from pathlib import PurePosixPath
from typing import IO

from headway.errors import HeadwayError
from headway.ext.documents.office.xml_tree import Node, parse_xml, write_xml
from headway.ext.documents.text_file import check_count

LARGEST = 64_000_000  # bytes of a package
MOST_MEMBERS = 10_000
LARGEST_PART = 24_000_000  # bytes of a member that is read
LARGEST_TEXT = 64_000_000  # bytes of all members that are read
MOST_TAGS = 600_000  # of all members that are read as XML
NO_MAIN_PART = "is damaged: it has no main part"
_LARGEST_CONTENT = 1_000_000_000  # bytes of all members, which are not unpacked
_MOST_RATIO = 300  # bytes of the content for each byte of a package; packed XML has up to 100
_ANY_RATIO = 8_000_000  # bytes of a content that may have any ratio
_LARGEST_DIRECTORY = 4_000_000
_END, _END_LOCATOR = b"PK\5\6", b"PK\6\7"  # of the directory; the second only in ZIP64
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_HAS_SIZES_BEHIND = 0x8  # sizes stand behind the content and not before it


class Package:
    """A ZIP package in memory.

    Args:
        data: The file.
        most_tags: How many tags may be in all members together that are read as XML.
        outer: The package that this one is a member of; what is read of both counts for one limit.

    Raises:
        HeadwayError: If it is no such package, or has what no office file needs: encrypted members, names that
            lead out of the package, names twice, absurd sizes.
    """

    def __init__(
        self, data: bytes, most_tags: int = MOST_TAGS, outer: "Package | None" = None
    ) -> None:
        _check_directory(data)
        self._data, self._most_tags = data, most_tags
        # Counts of the members that were read; one that was refused has none.
        self._sizes: dict[zipfile.ZipInfo, int] = outer._sizes if outer else {}
        self._tags: dict[zipfile.ZipInfo, int] = outer._tags if outer else {}
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._members = {info.filename: info for info in self._zip.infolist()}
        except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error, OSError):
            raise HeadwayError("is damaged: it has no readable directory of a ZIP file") from None
        self._check_members()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """The names of the members, in the order of the file."""
        return [*self._members]

    def read(self, name: str) -> bytes:
        """Return the content of a member.

        Raises:
            HeadwayError: If it is damaged or too large.
        """
        info = self._members[name]
        with name_member(name):
            total = sum({**self._sizes, info: info.file_size}.values())
            if info.file_size > LARGEST_PART or total > LARGEST_TEXT:
                raise HeadwayError(
                    f"has {info.file_size:,} bytes: split the file into smaller ones"
                )
            self._sizes[info] = info.file_size
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise HeadwayError("is packed in a way that office files do not use")
            try:
                with self._zip.open(info) as file:
                    content = file.read(info.file_size + 1)
            except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError, struct.error):  # fmt: skip
                raise HeadwayError("is damaged: it cannot be unpacked") from None
            if len(content) != info.file_size:
                raise HeadwayError("is damaged: it has another size than it says")
        return content

    def open(self, name: str) -> "Package":
        """Return a member that is a package itself.

        Raises:
            HeadwayError: If it is none, or damaged.
        """
        return Package(self.read(name), self._most_tags, self)

    def parse(self, name: str) -> Node:
        """Return the root of a member in XML; see `parse_xml`.

        Raises:
            HeadwayError: If it is damaged or too large.
        """
        data = self.read(name)
        self.count_tags(name, data)
        with name_member(name):
            return parse_xml(data)

    def count_tags(self, name: str, data: bytes) -> None:
        """Count the tags of a member.

        Raises:
            HeadwayError: If all members that have been read have too many.
        """
        found = {**self._tags, self._members[name]: data.count(b"<")}
        check_count(sum(found.values()), "tags", self._most_tags)
        self._tags.update(found)

    def write(self, changes: Mapping[str, bytes | Node]) -> bytes:
        """Return the package with other contents of some members; the packed bytes of all others stay.

        Args:
            changes: New contents by the names of members: bytes, or the root of a tree, which is packed while it is written.
        """
        if not changes:
            return self._data
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as package:
            package.comment = self._zip.comment
            for name, info in self._members.items():
                own = copy(info)
                if name in changes:
                    with package.open(own, "w") as file:
                        write_content(changes[name], file)
                    continue
                own.header_offset = package.start_dir
                own.flag_bits &= ~_HAS_SIZES_BEHIND
                start = self._find_content(info)
                out.write(own.FileHeader(zip64=False))
                out.write(memoryview(self._data)[start : start + info.compress_size])
                package.filelist.append(own)
                package.start_dir = out.tell()
        return out.getvalue()

    def _find_content(self, info: zipfile.ZipInfo) -> int:
        """Return where the packed content of a member starts.

        Raises:
            HeadwayError: If the file does not have it.
        """
        head = self._data[info.header_offset : info.header_offset + 30]
        if len(head) == 30 and head.startswith(b"PK\3\4"):
            name, extra = struct.unpack("<HH", head[26:])
            start = info.header_offset + 30 + name + extra
            if start + info.compress_size <= len(self._data):
                return int(start)
        raise HeadwayError(f"is damaged: it lacks the content of {info.filename[:80]!r}")

    def _check_members(self) -> None:
        infos = self._zip.infolist()
        if len(infos) > MOST_MEMBERS:
            raise HeadwayError(f"has {len(infos):,} members: at most {MOST_MEMBERS:,} are read")
        if len(infos) > len(self._members):
            raise HeadwayError("has two members of the same name")
        size = sum(info.file_size for info in infos)
        ratio = size / max(1, len(self._data))
        if size > _LARGEST_CONTENT or (size > _ANY_RATIO and ratio > _MOST_RATIO):
            raise HeadwayError(f"unpacks to {size:,} bytes, {ratio:,.0f} times its size: it is a ZIP bomb")  # fmt: skip
        for info in infos:
            name = info.orig_filename
            if "\\" in name or "\0" in name or ":" in name.partition("/")[0] or name.startswith("/"):  # fmt: skip
                raise HeadwayError(f"has a member with the name {name[:80]!r}")
            if ".." in PurePosixPath(name).parts:
                raise HeadwayError(f"has a member that leads out of it, {name[:80]!r}")
            if info.flag_bits & _ENCRYPTED:
                raise HeadwayError("is encrypted: save it without a password")
        end = 0
        for info in sorted(infos, key=lambda info: info.header_offset):
            start = self._find_content(info)
            if info.header_offset < end:
                raise HeadwayError("is damaged: its members overlap")
            end = start + info.compress_size


def write_content(content: bytes | Node, file: IO[bytes]) -> None:
    """Write what a member is: bytes, or a tree."""
    if isinstance(content, bytes):
        file.write(content)
    else:
        write_xml(content, file)


@contextmanager
def name_member(name: str) -> Iterator[None]:
    """Add the name of a member to the message of an error."""
    try:
        yield
    except HeadwayError as error:
        raise HeadwayError(f"{name[:80]!r} in it {error}") from None


def _check_directory(data: bytes) -> None:
    """Check the size of a package and its directory before the directory is read."""
    if len(data) > LARGEST:
        raise HeadwayError(f"has {len(data):,} bytes: at most {LARGEST:,} are read")
    if data.startswith(_OLD_OFFICE):
        raise HeadwayError("is encrypted or of an old format: save it without a password in the new format")  # fmt: skip
    if data[-22:].startswith(_END):
        end = len(data) - 22
    else:
        end = data.rfind(_END, max(0, len(data) - 22 - (1 << 16)))
    if not data.startswith(b"PK") or end < 0 or end + 22 > len(data):
        raise HeadwayError("is damaged, or no office file: it is no ZIP package")
    if data[max(0, end - 20) :].startswith(_END_LOCATOR):
        raise HeadwayError("is packed for files above 4 GB: pack it as an office program does")
    if struct.unpack("<I", data[end + 12 : end + 16])[0] > _LARGEST_DIRECTORY:
        raise HeadwayError(f"has a directory of more than {_LARGEST_DIRECTORY:,} bytes")
