"""Translation of the file of a request, a few paragraphs at a time, between other requests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from headway.ext.documents import (
    DocumentOptions,
    Paragraph,
    TextPipeline,
    Translated,
    is_table,
    translate_paragraph,
)
from headway.ext.server.driver import Driver
from headway.ext.server.file_process import FileProcess
from headway.ext.server.file_store import FileStore, Upload, name_translation
from headway.ext.server.model_routes import find_route
from headway.ext.server.models import Models
from headway.ext.server.quality import QualityReport
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.rejection import Rejection
from headway.ext.server.text_threads import Account
from headway.translation import Translator, together

CHUNK = 2_000  # characters of the paragraphs that are translated together; a longer one is alone
WINDOW = 32  # sentences of such a paragraph that wait in the queue at a time


@dataclass
class FileProgress:
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
    address, table = files.add(data, name, report.table)
    return KeptDocument(address, round(report.mean, 4), table)


async def open_upload(
    process: FileProcess,
    upload: Upload,
    options: DocumentOptions,
    models: Models,
    quality: bool = False,
) -> tuple[list[Paragraph[None]], list[Translator]]:
    """Return the paragraphs of a file that a client has sent, and the models that translate it.

    Args:
        process: Reads the file.
        upload: The file.
        options: If the source is not known, it is detected from the texts.
        models: Those of the server.
        quality: Whether the translations will be rated, so that their places in the file are wanted.

    Raises:
        Rejection: 400 if the kind of the file is unknown, it is damaged, it is no table and columns are given, or no
            models lead to the target; 413 if to read it takes too much.
    """
    if any(options.columns) and not is_table(upload.name):
        raise Rejection(400, "Invalid request: columns needs a table (.csv or .tsv) as file")
    paragraphs = await process.open(upload.data, upload.short_name, options, quality)
    texts = [paragraph.text for paragraph in paragraphs]
    route, detected = await find_route(options.source or "auto", options.target, texts, models)
    if detected is not None and route:  # what the file says of its language depends on it
        options = replace(options, source=detected["language"])
        paragraphs = await process.open(upload.data, upload.short_name, options, quality)
    return paragraphs, route


async def translate_document(
    queue: TranslationQueue,
    route: Sequence[Translator],
    process: FileProcess,
    paragraphs: Sequence[Paragraph[None]],
    progress: FileProgress | None = None,
    *,
    quality: bool = False,
    is_split: bool = True,
) -> TranslatedDocument:
    """Return a document with its text translated.

    Args:
        queue: The queue of all requests.
        route: The models.
        process: Has read the document.
        paragraphs: From `open_upload`.
        progress: Is changed while the document is translated.
        quality: Also rate the translations, and translate again what looks broken.
        is_split: Translate each sentence of a line by itself.

    Raises:
        Rejection: 400 if the translation cannot be written, 413 if it takes too much work beside the models.
    """
    progress = progress or FileProgress()
    progress.total = sum(len(paragraph.text) for paragraph in paragraphs)
    pipeline = TextPipeline.of(
        route, align=True, quality=quality, is_split=is_split, is_document=True, window=WINDOW
    )
    account = Account.for_characters(progress.total)
    driver = Driver(queue, texts=0, account=account, is_file=True)
    found: list[Translated] = []
    report = QualityReport(route) if quality else None
    for chunk in _chunks(paragraphs):
        texts = await driver.run(together(translate_paragraph(pipeline, each) for each in chunk))
        if report is not None:
            await queue.threads.run(partial(report.add, chunk, texts), account)
        found += [each.for_document for each in texts]
        progress.done += sum(len(paragraph.text) for paragraph in chunk)
    return TranslatedDocument(await process.write(found), report)


def _chunks(paragraphs: Sequence[Paragraph[Any]]) -> Iterator[list[Paragraph[Any]]]:
    """Yield some paragraphs at a time."""
    chunk: list[Paragraph[Any]] = []
    size = 0
    for paragraph in paragraphs:
        if chunk and size + len(paragraph.text) > CHUNK:
            yield chunk
            chunk, size = [], 0
        chunk.append(paragraph)
        size += len(paragraph.text)
    if chunk:
        yield chunk
