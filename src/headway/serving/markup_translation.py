"""Translation of the markup of a request, by way of the queue."""

from collections.abc import Callable, Sequence
from functools import partial

from headway.documents.html.page import HtmlPage
from headway.documents.kept_marks import KeptMarks
from headway.documents.xml_text import XmlText
from headway.inference import Translator
from headway.inference.text_translation import TextTranslation, expand_kept, mean_quality
from headway.serving.translation import CHARACTERS_PER_TOKEN, TextTranslator, keeps_text


async def translate_pages(
    translator: TextTranslator,
    route: Sequence[Translator],
    sources: Sequence[str],
    read: Callable[[str], HtmlPage | XmlText] | None = None,
    *,
    quality: bool = False,
) -> list[TextTranslation]:
    """Translate the text of HTML documents or fragments, or of another markup.

    Args:
        translator: Translates texts.
        route: The models.
        sources: The documents.
        read: Reads the markup of a document; None: it is HTML, in which elements in other languages stay.
        quality: See `TextTranslator.translate`.

    Returns:
        For each document its translation, with the sum of its blocks' scores and their mean quality.
    """
    if not route:
        return [TextTranslation(source) for source in sources]
    read = read or partial(HtmlPage, language=route[0].languages[0])
    size, queue = sum(map(len, sources)), translator.queue
    # Before the work of reading; how much of the markup is text is not known yet.
    queue.reject_if_full(size // CHARACTERS_PER_TOKEN)

    def read_all() -> tuple[list[HtmlPage | XmlText], list[KeptMarks]]:
        pages, is_kept = [read(source) for source in sources], keeps_text(route)
        return pages, [KeptMarks(block, is_kept) for page in pages for block in page.paragraphs]

    pages, marked = await queue.run_text_work(size, read_all)
    texts = [marks.text for marks in marked]
    translations = await translator.translate(
        route, texts, align=True, quality=quality, is_document=True, count=len(sources)
    )
    found = map(expand_kept, translations, marked)

    def write() -> list[TextTranslation]:
        written = []
        for page in pages:
            here = [next(found) for _ in page.paragraphs]
            text = page.write([t.for_document for t in here])
            lengths = [len(block.text) for block in page.paragraphs]
            mean = mean_quality([(n, t.quality) for n, t in zip(lengths, here, strict=True)])
            written.append(TextTranslation(text, sum(t.score for t in here), quality=mean))
        return written

    return await queue.run_text_work(size, write)
