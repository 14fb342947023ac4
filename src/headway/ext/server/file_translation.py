"""Translation of the file of a request, a few paragraphs at a time, between other requests."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from headway.ext.documents import (
    DocumentOptions,
    Paragraph,
    RatedText,
    TextPipeline,
    Translated,
    has_states,
    is_table,
    mean_quality,
    translate_paragraph,
    write_table,
)
from headway.ext.server.driver import run_jobs
from headway.ext.server.file_process import FileProcess
from headway.ext.server.files import FileJob, TranslatedFile, name_translation
from headway.ext.server.messages import FileRequest
from headway.ext.server.model_routes import find_route
from headway.ext.server.quality import rate_paragraphs
from headway.ext.server.rejection import Rejection
from headway.ext.server.server import Context
from headway.ext.server.text_threads import Account
from headway.translation import Translator

CHUNK = 2_000  # characters of the paragraphs that are translated together; a longer one is alone
WINDOW = 32  # sentences of such a paragraph that wait in the queue at a time


async def translate_upload(request: FileRequest, job: FileJob, context: Context) -> None:
    """Translate a file when a process is free, and keep it; the job says how far it is.

    A job whose client waits is rejected if all processes are taken.

    Raises:
        Rejection: 400 if a language is not served, the kind of the file is unknown, it is damaged, it is no table and columns are given, no models lead
            to the target, or the glossary is wrong; 413 if to read or to write it takes too much, or there is no room
            for the translation; 429 if all processes are taken.
        TimeoutError: If it takes longer than ``file_deadline`` from its turn on.
    """
    files = context.server.files
    async with files.processes.take(waits=bool(job.key)) as process:
        job.started_at = time.monotonic()
        async with asyncio.timeout(context.server.config.file_deadline):
            await _translate(request, job, process, context)
    files.keep(job)


async def _translate(
    request: FileRequest, job: FileJob, process: FileProcess, context: Context
) -> None:
    target = context.models.served_code(request.target, "target")
    paragraphs, route = await _open(request, target, process, context)
    route = await context.prepare(route, request.glossary, request.quality)
    job.total = sum(len(paragraph.text) for paragraph in paragraphs)
    pipeline = TextPipeline(
        route, align=True, quality=request.quality, is_split=context.server.config.split_sentences,
        is_document=True, window=WINDOW,
    )  # fmt: skip
    account, queue = Account.for_characters(job.total, is_file=True), context.server.queue
    found: list[Translated] = []
    rated: list[RatedText] = []
    for chunk in _chunks(paragraphs):
        jobs = [translate_paragraph(pipeline, each) for each in chunk]
        texts = await run_jobs(jobs, queue, account, 0, is_file=True)
        if request.quality:
            rate = partial(rate_paragraphs, route, chunk, texts)
            rated += await queue.threads.run(rate, account)
        found += [each.for_document(request.finished) for each in texts]
        job.done += sum(len(paragraph.text) for paragraph in chunk)
    name = name_translation(request.file.name, target)
    job.files = [TranslatedFile(name, await process.write(found))]
    if request.quality:
        job.quality = round(mean_quality([(len(row.source), row.quality) for row in rated]), 4)
        job.files.append(TranslatedFile(f"{name}.quality.tsv", write_table(rated)))


async def _open(
    request: FileRequest, target: str, process: FileProcess, context: Context
) -> tuple[list[Paragraph], list[Translator]]:
    """Return the paragraphs of a file, and the models that translate it into a language."""
    name, models, is_known = request.file.name, context.models, request.source.lower() != "auto"
    source = models.served_code(request.source, "source") if is_known else ""
    options = DocumentOptions(source, target, (request.columns,))
    if any(options.columns) and not is_table(name):
        raise Rejection(400, "Invalid request: columns needs a table (.csv or .tsv) as file")
    if request.finished is not None and not has_states(name):
        raise Rejection(400, "Invalid request: finished needs a catalog (.po or .xliff) as file")
    if request.finished and not request.quality:
        raise Rejection(400, "Invalid request: finished needs quality, if it is more than 0")
    # Of translations that will be rated, the places in the file are wanted.
    open_file = partial(process.open, request.file.data, name, has_places=request.quality)
    paragraphs = await open_file(options)
    texts = [paragraph.text for paragraph in paragraphs]
    route, detected = await find_route(request.source, target, texts, models)
    if detected is not None and route:  # what the file says of its language depends on it
        paragraphs = await open_file(replace(options, source=detected["language"]))
    return paragraphs, route


def _chunks(paragraphs: Sequence[Paragraph]) -> Iterator[list[Paragraph]]:
    """Yield some paragraphs at a time."""
    chunk: list[Paragraph] = []
    size = 0
    for paragraph in paragraphs:
        if chunk and size + len(paragraph.text) > CHUNK:
            yield chunk
            chunk, size = [], 0
        chunk.append(paragraph)
        size += len(paragraph.text)
    if chunk:
        yield chunk
