"""Translation of the file of a request, a few paragraphs at a time, between other requests."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

from headway.documents.kept_marks import KeptMarks
from headway.documents.opening import open_document
from headway.documents.paragraph import Document, DocumentOptions
from headway.errors import HeadwayError
from headway.inference import Translator
from headway.inference.text_translation import TextTranslation, expand_kept
from headway.serving.files import Upload
from headway.serving.rejection import Rejection
from headway.serving.translation import TextTranslator, keeps_text

CHUNK = 2_000  # characters that wait in the queue at once, and then their next ones


@dataclass
class Progress:
    """How much of a file is translated, in characters."""

    done: int = 0
    total: int = 0


class TranslatedDocument(NamedTuple):
    """A translated document, and the translations of its paragraphs."""

    data: bytes
    texts: list[TextTranslation]


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
    *,
    quality: bool = False,
) -> TranslatedDocument:
    """Return the document with its text translated.

    Args:
        translator: Translates texts.
        route: The models.
        document: From `open_upload`.
        progress: Is changed while the document is translated.
        quality: Also rate the translations, and translate again what looks broken.

    Raises:
        Rejection: 400 if the translation cannot be written.
    """
    progress = progress or Progress()
    is_kept = keeps_text(route)
    marked = [KeptMarks(paragraph, is_kept) for paragraph in document.paragraphs]
    progress.total = sum(len(marks.text) for marks in marked)
    found: list[TextTranslation] = []
    for chunk in _chunks(marked):
        texts = [marks.text for marks in chunk]
        translations = await translator.translate(
            route, texts, align=True, quality=quality, is_document=True, is_admitted=True
        )
        found += map(expand_kept, translations, chunk)
        progress.done += sum(map(len, texts))
    try:
        data = await asyncio.to_thread(document.write, [each.for_document for each in found])
        return TranslatedDocument(data, found)
    except HeadwayError as error:
        raise Rejection(400, f"Invalid request: the file {error}") from None


def _chunks(marked: Sequence[KeptMarks]) -> Iterator[list[KeptMarks]]:
    """Yield some paragraphs at a time."""
    chunk: list[KeptMarks] = []
    for marks in marked:
        if chunk and sum(len(each.text) for each in chunk) + len(marks.text) > CHUNK:
            yield chunk
            chunk = []
        chunk.append(marks)
    if chunk:
        yield chunk
