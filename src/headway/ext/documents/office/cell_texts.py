"""Texts of spreadsheets with marks in them: printed headers with codes, and notes of an author."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from headway.ext.documents.marked_text import (
    Part,
    flatten,
    make_kept,
    make_nodes,
    make_translatable_nodes,
)
from headway.ext.documents.office.run_paragraphs import CELL, read_paragraph
from headway.ext.documents.office.xml_part import Place
from headway.ext.documents.office.xml_tree import Node, clean_text, local_name
from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.documents.placing import place

PRINTED = tuple(f"{pages}{side}" for pages in ("odd", "even", "first") for side in ("Header", "Footer"))  # fmt: skip
_MOST_CHARACTERS = 255  # a spreadsheet program calls a file with a longer header damaged
# An ampersand; a page number; where the left, middle or right part begins, or a new line; a font, color or other code.
# The codes are those of ECMA-376, part 1, 18.3.1.46.
_CODE = re.compile(
    r'(?P<ampersand>&&)|(?P<number>&[PN])|(?P<border>&[LCR]|\n)|&(?:".*?"|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|\d{1,3}|[A-Za-z])'
)
_SIZE = re.compile(r"&\d{1,2}$")
_MOST_DIGITS = 3  # of the number of an author


def read_printed(node: Node) -> Place:
    """Return the texts of a printed header or footer, which is text with codes such as ``&L``, ``&B`` and ``&P``."""
    text = node.text or ""
    parts = [*_read_codes(text)] if len(text) <= _MOST_CHARACTERS else []
    nodes = make_nodes(_trim(parts), make_translatable_nodes)

    def write(translations: Sequence[Translated]) -> None:
        left, out = iter(translations), ""
        for each in nodes:
            parts = [(each, True)] if isinstance(each, str) else _write_codes(each, next(left))
            for part, is_code in parts:
                if not is_code and part[0].isdigit() and _SIZE.search(out):
                    out += " "  # the digit would be one of the size
                out += part if is_code else part.replace("&", "&&")
        if len(out) <= _MOST_CHARACTERS:
            node.text = clean_text(out)

    return Place([block for block in nodes if isinstance(block, Paragraph)], write)


def _read_codes(text: str) -> Iterator[Part]:
    at = 0
    for found in _CODE.finditer(text):
        if at < found.start():
            yield Part("text", text[at : found.start()], text[at : found.start()])
        at = found.end()
        if found["ampersand"]:
            yield Part("text", found[0], "&")
        elif found["number"]:  # a digit stands for it
            yield make_kept(found[0], "1" if found[0] == "&P" else "9")
        else:
            yield Part("break" if found["border"] else "point", found[0])
    if at < len(text):
        yield Part("text", text[at:], text[at:])


def _trim(parts: list[Part]) -> list[Part]:
    """Return a header in which codes before the first word and behind the last one of a text are no part of it."""
    for order in (range(len(parts)), reversed(range(len(parts)))):
        is_outside = True
        for number in order:
            if is_outside and parts[number].kind == "point":
                parts[number] = parts[number]._replace(kind="break")
            is_outside = parts[number].kind == "break"
    return parts


def _write_codes(block: Paragraph, translated: Translated) -> Iterable[tuple[str, bool]]:
    """Return the parts of a translated text, and whether each is a code."""
    is_same = translated.text == block.text
    return [(block.source, True)] if is_same else flatten(place(block, translated))


def read_note(node: Node) -> Place:
    """Return a note, which may begin with the name of its author; that is no part of the text."""
    name = "".join(node[0].itertext()).strip() if len(node) else ""
    is_author = name.endswith(":") and name[:-1].strip() == _find_author(node)
    return read_paragraph(CELL, node, int(is_author))


def _find_author(note: Node) -> str | None:
    """Return the name of the author of a note, of those that stand at the beginning of the part."""
    authors = note.getroottree().getroot()[0]
    comment = note.getparent()
    number = "" if comment is None else comment.get("authorId", "")
    if local_name(authors) != "authors" or not number.isdecimal() or len(number) > _MOST_DIGITS:
        return None
    return next((author.text or "" for author in islice(authors, int(number), None)), "").strip()
