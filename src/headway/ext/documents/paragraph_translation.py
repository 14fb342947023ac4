"""Translation of paragraphs with inline elements, such as links and bold words, which are placed by the links between words."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headway.ext.documents.kept_marks import KeptMarks
from headway.ext.documents.paragraph import Paragraph, Translated
from headway.ext.documents.texts import (
    SentenceTranslation,
    TextPipeline,
    TextTranslation,
    mean_quality,
)
from headway.text import Tokenizer, WordLinks
from headway.translation import Job, together

if TYPE_CHECKING:
    from headway.ext.documents.html.html_page import Page


def translate_paragraph(pipeline: TextPipeline, paragraph: Paragraph[Any]) -> Job[TextTranslation]:
    """Translate a paragraph of a document, and say where its protected texts stand.

    Args:
        pipeline: Aligns words; its texts are of a document.
        paragraph: With its inline elements.
    """
    if paragraph.is_name and pipeline.route:
        return (yield from _translate_name(pipeline, paragraph.text))
    marks = KeptMarks(paragraph, pipeline.keeps_text)
    found = yield from pipeline.translate(marks.text)
    return expand_kept(found, marks)


def _translate_name(pipeline: TextPipeline, text: str) -> Job[TextTranslation]:
    """Translate what names a speaker, such as "Old Man" or "NINA"; a name that the vocabulary does not have stays."""
    tokenizer = pipeline.route[0].forward.tokenizer
    read = _read_name(text, tokenizer)
    if not read:
        return TextTranslation(text, links=WordLinks.identity(text))
    found = yield from pipeline.translate(read)
    best = found.text.upper() if text.isupper() else found.text[:1].upper() + found.text[1:]
    return replace(found, text=best, links=None)


def _read_name(text: str, tokenizer: Tokenizer) -> str:
    """Return a name with each word in small letters or as a name, as the vocabulary has it; "" if it has one only in parts.

    From parts of a name a model mixes its letters.
    """
    words = []
    for word in text.split(" "):
        forms = word.lower(), word.capitalize()
        known = [form for form in forms if form in tokenizer.divide_source(form)]
        if not known and not word.isdigit():
            return ""
        words.append(known[0] if known else word)
    return " ".join(words)


def translate_page(
    pipeline: TextPipeline, source: str, read: Callable[[str], "Page"]
) -> Job[TextTranslation]:
    """Translate a text with markup.

    Args:
        pipeline: See `translate_paragraph`; an empty route changes nothing.
        source: The text.
        read: Reads its markup.

    Returns:
        Its translation, with the sum of its paragraphs' scores and their mean quality.
    """
    if not pipeline.route:
        return TextTranslation(source)
    page = read(source)
    found = yield from together(translate_paragraph(pipeline, each) for each in page.paragraphs)
    text = page.write([each.for_document for each in found])
    lengths = [len(paragraph.text) for paragraph in page.paragraphs]
    mean = mean_quality([(n, each.quality) for n, each in zip(lengths, found, strict=True)])
    return TextTranslation(text, sum(each.score for each in found), quality=mean)


def expand_kept(found: TextTranslation, marks: KeptMarks) -> TextTranslation:
    """Return the translation of a paragraph with the protected texts in the places of their marks."""
    whole = marks.expand(Translated(found.text, found.links))
    places = marks.places(found.text)
    sentences = [
        SentenceTranslation(
            marks.expand_text(source),
            places[start],
            replace(best, text=marks.expand_text(best.text)),
        )
        for source, start, best in found.sentences
    ]
    return replace(
        found,
        text=whole.text,
        alternatives=[(marks.expand_text(text), score) for text, score in found.alternatives],
        links=whole.links,
        sentences=sentences,
        kept=whole.kept,
    )
