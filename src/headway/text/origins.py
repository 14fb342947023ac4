"""What is recorded of text that was fetched by name: the content of a ``manifest.json``."""

from typing import TypedDict


class FileFacts(TypedDict):
    """A file: its sha256 and its number of lines."""

    sha256: str
    lines: int


class Origin(TypedDict, total=False):
    """Where a corpus is from.

    Attributes:
        program: The program that fetched it, with its version.
        revision: The revision, if it is known.
        references: The number of references of a test set.
        parts: The manifests of the corpora that were joined; such a corpus has no program.
    """

    program: str
    revision: str | None
    references: int
    parts: list["Manifest"]


class Manifest(Origin):
    """A corpus and its origin.

    Attributes:
        format: The version of this record.
        name: The name by which the corpus was fetched.
        languages: Codes of source and target.
        files: Name -> facts of each file.
    """

    format: int
    name: str
    languages: tuple[str, str]
    files: dict[str, FileFacts]
