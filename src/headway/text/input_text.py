"""A text file to translate, checked before the work begins."""

import codecs
import hashlib
from dataclasses import dataclass
from pathlib import Path

from headway.text.lines import LONGEST, open_bytes, read_lines


@dataclass(frozen=True)
class InputText:
    """A text file that was read once to its end, so that no line of it can fail later.

    Attributes:
        path: The file.
        lines: Number of its lines.
        sha256: Of its text.
        mark: The byte order mark of UTF-8 text, or "".
        line_end: That of the first line.
    """

    path: Path
    lines: int
    sha256: str
    mark: str
    line_end: str

    @classmethod
    def scan(cls, path: Path) -> "InputText":
        """Read a file, compressed or not.

        Raises:
            HeadwayError: If a line is not UTF-8; it names the line.
        """
        lines, digest = 0, hashlib.sha256()
        for line in read_lines(path):
            lines += 1
            digest.update(f"{line}\n".encode())
        with open_bytes(path) as file:
            first = file.readline(LONGEST)
        mark = "\ufeff" if first.startswith(codecs.BOM_UTF8) else ""
        line_end = "\r\n" if first.endswith(b"\r\n") else "\n"
        return cls(path, lines, digest.hexdigest(), mark, line_end)
