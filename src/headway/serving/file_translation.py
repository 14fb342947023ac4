"""Translation of the file of a request, a few paragraphs at a time, between other requests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from headway.documents.kept_marks import KeptMarks
from headway.documents.opening import is_table, open_document
from headway.documents.paragraph import Document, DocumentOptions, Translated
from headway.errors import HeadwayError
from headway.inference import Translator
from headway.inference.text_translation import TextTranslation, expand_kept
from headway.serving.directions import find_direction
from headway.serving.files import FileStore, Upload, name_translation
from headway.serving.models import Models
from headway.serving.quality import QualityReport
from headway.serving.queue import TranslationQueue
from headway.serving.rejection import Rejection
from headway.serving.translation import TextTranslator, keeps_text

CHUNK = (
    2_000  # characters of the paragraphs that are translated together; a longer paragraph is alone
)


@dataclass
class Progress:
    """How much of a file is translated, in characters."""

    done: int = 0
    total: int = 0


class TranslatedDocument(NamedTuple):
    """A translated document, and the report on its quality; None if the request did not ask for one."""

    data: bytes
    report: QualityReport | None


class KeptDocument(NamedTuple):
    """A translated document that waits to be fetched.

    Attributes:
        address: Of its file, from `FileStore.add`.
        quality: The mean of its sentences, from 0 to 1; None if the request did not ask for it.
        table: The address of a table of the sentences, or "".
    """

    address: str
    quality: float | None = None
    table: str = ""


def keep_document(
    files: FileStore, name: str, language: str, translated: TranslatedDocument
) -> KeptDocument:
    """Keep a translated document and the report on it until the client fetches them.

    Args:
        files: Keeps them.
        name: Of the file, as the client gives it.
        language: Code of the translation.
        translated: From `translate_document`.

    Raises:
        Rejection: 413 if there is no room for them.
    """
    data, report = translated
    name = name_translation(name, language)
    if report is None:
        [address] = files.add(data, name)
        return KeptDocument(address)
    address, table = files.add(data, name, report.table.encode())
    return KeptDocument(address, round(report.mean, 4), table)


async def open_upload(
    upload: Upload, options: DocumentOptions, models: Models, queue: TranslationQueue
) -> tuple[Document, list[Translator]]:
    """Return the document that a client has sent, and the models that translate it.

    Args:
        upload: The file.
        options: If the source is not known, it is detected from the texts.
        models: Those of the server.
        queue: Has the threads for files.

    Raises:
        Rejection: 400 if the kind of the file is unknown, it is damaged, it is no table and columns are given, or no
            models lead to the target.
    """
    document = await _open(upload, options, queue)
    texts = [paragraph.text for paragraph in document.paragraphs]
    route, detected = await find_direction(options.source or "auto", options.target, texts, models)
    if detected is not None and route:  # what the file says of its language depends on it
        document = await _open(upload, replace(options, source=detected["language"]), queue)
    return document, route


async def _open(upload: Upload, options: DocumentOptions, queue: TranslationQueue) -> Document:
    if any(options.columns) and not is_table(upload.name):
        raise Rejection(400, "Invalid request: columns needs a table (.csv or .tsv) as file")
    try:
        read = partial(open_document, upload.data, upload.short_name, options)
        return await queue.run_file_work(read)
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

    def mark() -> list[KeptMarks]:
        return [KeptMarks(paragraph, is_kept) for paragraph in document.paragraphs]

    marked = await translator.queue.run_file_work(mark)
    progress.total = sum(len(marks.text) for marks in marked)
    found: list[Translated] = []
    report = QualityReport(is_direct=len(route) == 1) if quality else None
    for chunk in _chunks(marked):
        texts = [marks.text for marks in chunk]
        translations = await translator.translate(
            route, texts, align=True, quality=quality, is_document=True, is_file=True
        )
        expand = partial(_expand, chunk, translations, report)
        found += await translator.queue.run_file_work(expand)
        progress.done += sum(map(len, texts))
    try:
        data = await translator.queue.run_file_work(partial(document.write, found))
        return TranslatedDocument(data, report)
    except HeadwayError as error:
        raise Rejection(400, f"Invalid request: the file {error}") from None


def _expand(
    chunk: Sequence[KeptMarks],
    translations: Sequence[TextTranslation],
    report: QualityReport | None,
) -> list[Translated]:
    """Return the translations of paragraphs with their kept texts, and add them to the report."""
    expanded = [*map(expand_kept, translations, chunk)]
    if report:
        report.add([marks.text for marks in chunk], expanded)
    return [text.for_document for text in expanded]


def _chunks(marked: Sequence[KeptMarks]) -> Iterator[list[KeptMarks]]:
    """Yield some paragraphs at a time."""
    chunk: list[KeptMarks] = []
    size = 0
    for marks in marked:
        if chunk and size + len(marks.text) > CHUNK:
            yield chunk
            chunk, size = [], 0
        chunk.append(marks)
        size += len(marks.text)
    if chunk:
        yield chunk
