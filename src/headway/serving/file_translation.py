"""Translation of the file of a request, a few paragraphs at a time, between other requests."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from headway.documents.paragraph import Document, Paragraph, Translated
from headway.errors import HeadwayError
from headway.inference import Translator
from headway.serving.rejection import Rejection
from headway.serving.translation import TextTranslator

CHUNK = 2_000  # characters that wait in the queue at once, and then their next ones


async def translate_document(
    translator: TextTranslator, route: Sequence[Translator], document: Document
) -> bytes:
    """Return the document with its text translated.

    Raises:
        Rejection: 400 if the translation cannot be written.
    """
    found: list[Translated] = []
    for texts in _chunks(document.paragraphs):
        translations = await translator.translate(route, texts, align=True, is_admitted=True)
        found += [Translated(t.text, t.links) for t in translations]
    try:
        return await asyncio.to_thread(document.write, found)
    except HeadwayError as error:
        raise Rejection(400, f"Invalid request: the file {error}") from None


def _chunks(paragraphs: Sequence[Paragraph[Any]]) -> Iterator[list[str]]:
    """Yield the texts of some paragraphs at a time."""
    chunk: list[str] = []
    for paragraph in paragraphs:
        if chunk and sum(map(len, chunk)) + len(paragraph.text) > CHUNK:
            yield chunk
            chunk = []
        chunk.append(paragraph.text)
    if chunk:
        yield chunk
