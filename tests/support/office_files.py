"""Generated office files and electronic books, by their suffixes."""

import random
from collections.abc import Callable

from support.grammar import Expander, read_templates
from support.office_packages import write_zip


def make_package(suffix: str, chooser: random.Random) -> bytes:
    """Return a package of a format."""
    packages, _ = read_templates()
    expander = Expander(chooser)
    return write_zip([
        (name, make_xlsx(chooser) if name.endswith(".xlsx")
         else content if name.endswith(".png") else expander.expand(content.decode()))
        for name, content in packages[f"x{suffix}"].items()
    ])  # fmt: skip


def make_docx(chooser: random.Random) -> bytes:
    """Return a text with all that stands in paragraphs, tables, headers, footers, notes and comments."""
    return make_package(".docx", chooser)


def make_xlsx(chooser: random.Random) -> bytes:
    """Return a spreadsheet with shared and inline strings, formulas, a table, comments and messages."""
    return make_package(".xlsx", chooser)


def _make(suffix: str) -> Callable[[random.Random], bytes]:
    return lambda chooser: make_package(suffix, chooser)


OFFICE_MAKERS = {
    suffix: _make(suffix) for suffix in (".docx", ".pptx", ".xlsx", ".odt", ".odp", ".ods", ".epub")
}
