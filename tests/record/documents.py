"""Files to translate, from the lists in ``cases``: of text formats in files.jsonl, and packages in packages.txt."""

from dataclasses import dataclass

from texts import CASES

from support.grammar import read_packages
from support.http_requests import read_rows
from support.office_packages import write_zip


@dataclass(frozen=True)
class Input:
    """A file to translate.

    Args:
        name: Of the file; the suffix is its format.
        content: Its bytes.
        columns: Of a table.
        is_damaged: Whether it is refused.
    """

    name: str
    content: bytes
    columns: str = ""
    is_damaged: bool = False


def read_inputs():
    """Return the files that are translated: first those of text formats, and then packages."""
    packages = [
        Input(name, write_zip([*members.items()]))
        for name, members in read_packages(CASES / "packages.txt").items()
    ]
    return [each for each in _read_text_files() if not each.is_damaged] + packages


def read_damaged():
    """Return the files that are refused."""
    return [each for each in _read_text_files() if each.is_damaged]


def _read_text_files():
    for row in read_rows(CASES / "files.jsonl"):
        content = row.pop("content")
        yield Input(content=content.encode() if isinstance(content, str) else content, **row)
