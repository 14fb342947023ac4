"""The text of a file, replacements of parts of it, and the encoding in which it is written again."""

import codecs
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from headway.errors import HeadwayError
from headway.text import likely_encoding, recognize_wide

LARGEST = 8_000_000  # bytes of a text file
MOST_PARTS = 100_000  # lines, tags, cells or entries of a file
LONGEST_PARAGRAPH = 1_000_000  # characters: a translation keeps an object for each word
_MARKS = (  # of UTF-32 before UTF-16, whose mark is the beginning of UTF-32's
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
FEW = 5  # characters that are not ASCII: in a short text of an older encoding, so many may look like UTF-8 by chance


@dataclass(frozen=True)
class TextFile:
    """The text of a file.

    Attributes:
        text: The text, with its line ends, without a byte order mark.
        encoding: The encoding of the file.
        mark: The byte order mark, or nothing.
        is_xml: Whether a character that the encoding lacks is written as a reference.
        advice: How a file that names its encoding gets another one; "": it names none.
    """

    text: str
    encoding: str
    mark: bytes = b""
    is_xml: bool = False
    advice: str = ""

    def encode(self, text: str) -> bytes:
        """Return the bytes of another text in the same encoding.

        If the encoding lacks a character, the text is written in UTF-8 with a byte order mark.

        Raises:
            HeadwayError: If the encoding lacks a character, and the file names its encoding.
        """
        if self.is_xml:
            return self.mark + text.encode(self.encoding, "xmlcharrefreplace")
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError:
            if self.advice:
                raise HeadwayError(
                    f"{self.encoding} lacks characters of the translation: {self.advice}"
                ) from None
        mark = self.mark if self.encoding == "utf-8" else codecs.BOM_UTF8
        return mark + text.encode("utf-8", "replace")


def read_text_file(
    data: bytes, language: str, declared: str = "", *, is_xml: bool = False, advice: str = ""
) -> TextFile:
    """Return the text of a file.

    The encoding is that of the byte order mark, the declared one, UTF-8, or the one that older programs
    use for the language, in this order.

    Args:
        data: The content of the file.
        language: Language code of the text; "" if it is not known.
        declared: The encoding that the file names; "" if it names none.
        is_xml: See `TextFile`.
        advice: Likewise.

    Raises:
        HeadwayError: If the file is too large, is no text, or is UTF-8 in which some bytes are damaged.
    """
    return replace(_read(data, language, declared), is_xml=is_xml, advice=advice)


def _read(data: bytes, language: str, declared: str) -> TextFile:
    """Return the text of a file; see `read_text_file`."""
    if len(data) > LARGEST:
        raise HeadwayError(f"has {len(data):,} bytes: split it into files below {LARGEST:,}")
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode(data, encoding, mark)
    if declared:
        return _decode_declared(data, declared)
    if wide := recognize_wide(data):
        return _decode(data, wide)
    try:
        return _decode(data, "utf-8")
    except HeadwayError:
        if b"\0" in data:
            raise
        _check_is_no_utf8(data)
        return _decode_declared(data, likely_encoding([language]))


def check_count(count: int, name: str, most: int = MOST_PARTS) -> None:
    """Check that a file does not have more parts than can be kept in memory.

    Args:
        count: How many there are.
        name: What is counted.
        most: How many there may be.

    Raises:
        HeadwayError: If there are too many.
    """
    if count > most:
        raise HeadwayError(f"has {count:,} {name}: split it into files below {most:,}")


def _check_is_no_utf8(data: bytes) -> None:
    """Check that a file is not UTF-8 but for some bytes: in an older encoding all its other characters would be wrong."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        damaged = text.count("\ufffd") - data.count("\ufffd".encode())
        others = len(text) - len(text.encode("ascii", "ignore"))
        if others - damaged > max(damaged, FEW):
            line = len(data[: error.start + 1].splitlines())
            raise HeadwayError(
                f"line {line}: a byte is no UTF-8, but most of the file is: correct it, or convert the file to UTF-8"
            ) from None


def _decode_declared(data: bytes, name: str) -> TextFile:
    """Read a file in the encoding that it names."""
    try:
        # Otherwise the file could not name it.
        is_ascii = "<=".encode(name, "xmlcharrefreplace") == b"<="
        encoding = codecs.lookup(name).name if is_ascii else "utf-8"
    except (LookupError, UnicodeError, ValueError):
        raise HeadwayError(f"names the encoding {name[:40]!r}, which is not known") from None
    return _decode(data, encoding)


def _decode(data: bytes, encoding: str, mark: bytes = b"") -> TextFile:
    try:
        text = data[len(mark) :].decode(encoding)
        is_same = text.encode(encoding) == data[len(mark) :]
    except (UnicodeError, ValueError) as error:
        at = getattr(error, "start", 0) + len(mark)
        raise HeadwayError(f"is no text in {encoding} (byte {at:,})") from None
    if "\0" in text:
        raise HeadwayError("is no text: it has zero bytes")
    if not is_same:
        raise HeadwayError(f"cannot be written again in {encoding}: convert it to UTF-8")
    return TextFile(text, encoding, mark)


class Edit(NamedTuple):
    """What takes the place of the characters from ``start`` to ``end``."""

    start: int
    end: int
    replacement: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with some parts replaced; the parts do not overlap."""
    out, at = [], 0
    for edit in sorted(edits):
        out += [text[at : edit.start], edit.replacement]
        at = edit.end
    return "".join([*out, text[at:]])
