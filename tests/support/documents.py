"""Generated documents of every format, and translators whose result is known."""

import codecs
import random
from collections.abc import Callable, Sequence

from headway.ext.documents.document_translation import KeptMarks
from headway.ext.documents.paragraph import Element, Paragraph, Translated
from headway.ext.documents.texts import TextTranslation
from headway.text.word_links import WordLinks
from support.grammar import make_text
from support.office_files import OFFICE_MAKERS

TEXT_FORMATS = (".md", ".json", ".csv", ".html", ".srt", ".vtt", ".ass", ".sub", ".po", ".xlf", ".txt")  # fmt: skip


def make_file(suffix: str, seed: int) -> bytes:
    """Return a generated document."""
    chooser = random.Random(f"{suffix} {seed}")
    if suffix in OFFICE_MAKERS:
        return OFFICE_MAKERS[suffix](chooser)
    text = make_text(suffix, chooser)
    if suffix == ".sub":  # {{ begins a rule
        text = text.replace("«", "{").replace("»", "}")
    if suffix not in (".xlf", ".po") and chooser.random() < 0.2:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    mark = codecs.BOM_UTF8 if suffix not in (".po", ".vtt") and chooser.random() < 0.1 else b""
    return mark + text.encode()


def same(paragraph: Paragraph) -> Translated:
    """Return a paragraph as its own translation."""
    return Translated(paragraph.text, WordLinks.identity(paragraph.text))


def rotate(text: str) -> str:
    """Return a text in ROT13: every word changes, and nothing else."""
    return codecs.encode(text, "rot13")


def translate(paragraph: Paragraph, change: Callable[[str], str] = rotate) -> Translated:
    """Return a translation in which every word is changed, in its place, but no protected text."""
    marks = KeptMarks(paragraph)
    return expand(marks, Translated(change(marks.text), WordLinks.identity(marks.text)))


def expand(marks: KeptMarks, translated: Translated) -> Translated:
    """Return the translation of a paragraph whose protected texts are marked."""
    return marks.expand(TextTranslation(translated.text, links=translated.links)).for_document()


def expected_text(paragraph: Paragraph) -> str:
    """Return the text of a paragraph after `translate`: kept elements have not changed."""
    text = rotate(paragraph.text)

    def keep(elements: Sequence[Element], text: str) -> str:
        for element in elements:
            if element.is_kept:
                kept = paragraph.text[element.start : element.end]
                text = text[: element.start] + kept + text[element.end :]
            text = keep(element.inner, text)
        return text

    return keep(paragraph.elements, text)
