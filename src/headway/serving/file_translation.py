"""Translation of the file of a request, a few paragraphs at a time, between other requests."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from headway.documents.opening import open_document
from headway.documents.paragraph import Document, DocumentOptions, Paragraph, Translated
from headway.errors import HeadwayError
from headway.inference import Translator
from headway.serving.files import Upload
from headway.serving.rejection import Rejection
from headway.serving.translation import TextTranslator

CHUNK = 2_000  # characters that wait in the queue at once, and then their next ones


@dataclass
class Progress:
    """How much of a file is translated, in characters."""

    done: int = 0
    total: int = 0


async def open_upload(upload: Upload, options: DocumentOptions) -> Document:
    """Return the document that a client has sent.

    Raises:
        Rejection: 400 if its kind is unknown, or it is damaged.
    """
    name = PurePath(upload.name).name[-100:]
    try:
        return await asyncio.to_thread(open_document, upload.data, name, options)
    except HeadwayError as error:
        raise Rejection(400, f"Invalid request: {error}") from None


async def translate_document(
    translator: TextTranslator,
    route: Sequence[Translator],
    document: Document,
    progress: Progress | None = None,
) -> bytes:
    """Return the document with its text translated.

    Args:
        translator: Translates texts.
        route: The models.
        document: From `open_upload`.
        progress: Is changed while the document is translated.

    Raises:
        Rejection: 400 if the translation cannot be written.
    """
    progress = progress or Progress()
    paragraphs = document.paragraphs
    progress.total = sum(len(paragraph.text) for paragraph in paragraphs)
    found: list[Translated] = []
    for texts in _chunks(paragraphs):
        translations = await translator.translate(route, texts, align=True, is_admitted=True)
        found += [Translated(t.text, t.links) for t in translations]
        progress.done += sum(map(len, texts))
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
