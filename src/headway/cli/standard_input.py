"""The lines of standard input, as they arrive."""

import codecs
import os
import sys
from collections.abc import Iterator

from headway.errors import HeadwayError


def read_input(verb: str) -> Iterator[list[str]]:
    """Yield the lines of standard input as they arrive: one at once if they come slowly, many together if they come fast.

    Reading the file descriptor waits until there is something, and returns what there is.

    Args:
        verb: Named in the message if there is no standard input, such as "translate".

    Raises:
        HeadwayError: If standard input is closed or is a document and not text; or if a line is not UTF-8, after all
            lines before it were yielded.
    """
    if sys.stdin is None:
        raise HeadwayError(f"standard input is closed: nothing to {verb}")
    hint = "; whole documents: --input FILE --output FILE" if verb == "translate" else ""
    number, unfinished = 0, bytearray()
    while chunk := os.read(sys.stdin.fileno(), 1 << 16):
        if not number and not unfinished:
            _check_is_text(chunk, hint)
        unfinished += chunk
        if b"\n" in chunk:
            *lines, rest = bytes(unfinished).split(b"\n")
            yield from _decode(lines, number)
            number, unfinished = number + len(lines), bytearray(rest)
    if unfinished:
        yield from _decode([bytes(unfinished)], number)


def _check_is_text(start: bytes, hint: str) -> None:
    from headway.text.lines import name_by_content, recognize_wide

    if what := name_by_content(start):
        raise HeadwayError(f"standard input: {what}{hint}")
    if wide := recognize_wide(start):
        raise HeadwayError(
            f"standard input: {wide.upper()}: convert the text to UTF-8: iconv -f {wide.upper()} -t UTF-8"
        )


def _decode(lines: list[bytes], number: int) -> Iterator[list[str]]:
    """Yield lines as text, in one list; if one is not UTF-8, yield those before it first."""
    texts: list[str] = []
    for line in lines:
        number += 1
        line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        try:
            texts.append(line.removesuffix(b"\r").decode("utf-8"))
        except UnicodeDecodeError as error:
            yield texts
            raise HeadwayError(
                f"standard input: line {number}: not UTF-8 at byte {error.start + 1}: convert the text to UTF-8"
            ) from None
    yield texts
