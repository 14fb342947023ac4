"""Generated office files and electronic books, by their suffixes."""

import random
from collections.abc import Callable

from support.book_files import make_epub, make_odf
from support.sheet_files import make_pptx, make_xlsx
from support.word_files import make_docx

OFFICE_MAKERS: dict[str, Callable[[random.Random], bytes]] = {
    ".docx": make_docx,
    ".pptx": make_pptx,
    ".xlsx": make_xlsx,
    ".odt": lambda chooser: make_odf(chooser, "text"),
    ".odp": lambda chooser: make_odf(chooser, "presentation"),
    ".ods": lambda chooser: make_odf(chooser, "spreadsheet"),
    ".epub": make_epub,
}
