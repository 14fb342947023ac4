"""What the addresses of documents do: a file is sent, asked for, and fetched or given up."""

from functools import partial
from pathlib import PurePath

from headway.ext.documents import DocumentOptions, describe_unknown, list_suffixes
from headway.ext.server.context import Context
from headway.ext.server.deepl.glossaries import add_glossary
from headway.ext.server.deepl.language_codes import find_language
from headway.ext.server.deepl.messages import (
    DeepLDocument,
    DeepLDocumentKeyRequest,
    DeepLDocumentRequest,
    DeepLDocumentStatus,
)
from headway.ext.server.deepl.text import check_formality, require_source
from headway.ext.server.file_process import FileProcess
from headway.ext.server.file_store import GONE, TranslatedFile, Upload
from headway.ext.server.file_translation import (
    FileProgress,
    KeptDocument,
    keep_document,
    open_upload,
    translate_document,
)
from headway.ext.server.glossaries import add_named_glossary
from headway.ext.server.quality import check_quality
from headway.ext.server.rejection import Rejection
from headway.translation import Translator


async def upload_document(request: DeepLDocumentRequest, context: Context) -> DeepLDocument:
    """Begin to translate a file."""
    if not context.config.file_limit:
        raise Rejection(403, "Files translation are disabled on this server.")
    upload = Upload(request.filename or request.file.name, request.file.data)
    suffix = PurePath(upload.name).suffix.lower()
    if suffix not in list_suffixes():
        message = f"{upload.short_name}: {describe_unknown(suffix)}"
        raise Rejection(400, f"Invalid file data: {message}")
    if request.output_format and f".{request.output_format.lower()}" != suffix:
        raise Rejection(400, "Value for 'output_format' not supported.")
    check_formality(request.formality)
    require_source(request.glossary_id, request.source_lang)
    if request.glossary_id and request.glossary:
        raise Rejection(400, "Send glossary_id or glossary, not both.")
    target = find_language(request.target_lang, "target_lang", context.models)
    source = ""
    if request.source_lang:
        source = find_language(request.source_lang, "source_lang", context.models)
        route = context.models.require_route(source, target)
        if not route:
            raise Rejection(400, "Source and target language are equal.")
        await _prepare_route(route, request, context)  # rejects what is wrong now
    progress = FileProgress()
    work = partial(_translate, request, upload, source, target, context, progress)
    name = context.jobs.start(context.client, progress, work)
    return {"document_id": name, "document_key": context.jobs.key_of(name)}


async def _prepare_route(
    route: list[Translator], request: DeepLDocumentRequest, context: Context
) -> list[Translator]:
    """Return the models of a route with the glossary of a request.

    Raises:
        Rejection: If the glossary is wrong, or the models cannot rate translations and the request asks for that.
    """
    route = add_glossary(route, request.glossary_id, context.glossaries)
    route = await add_named_glossary(route, request.glossary, context.glossaries)
    if request.quality:
        check_quality(route)
    return route


async def _translate(
    request: DeepLDocumentRequest,
    upload: Upload,
    source: str,
    target: str,
    context: Context,
    progress: FileProgress,
    process: FileProcess,
) -> KeptDocument:
    """Translate a file and keep the translated one."""
    options = DocumentOptions(source, target, (request.columns or "",))
    paragraphs, route = await open_upload(process, upload, options, context.models, request.quality)
    route = await _prepare_route(route, request, context)
    translated = await translate_document(
        context.queue, route, process, paragraphs, progress, quality=request.quality,
        is_split=context.config.split_sentences,
    )  # fmt: skip
    context.characters[context.owner] += progress.total
    return keep_document(context.files, upload.name, target, translated)


async def get_document(request: DeepLDocumentKeyRequest, context: Context) -> DeepLDocumentStatus:
    """Return how far the translation of a file is."""
    job = context.jobs.find(request.document_id, request.document_key, context.owner)
    answer = DeepLDocumentStatus(document_id=request.document_id, status="queued")
    is_gone = job.kept is not None and not context.files.has(job.kept.address)
    if error := GONE if is_gone else job.error:
        answer |= {"status": "error", "error_message": error, "message": error}
    elif job.kept:
        answer |= {"status": "done", "billed_characters": job.progress.total}
        if job.kept.quality is not None:
            answer["quality"] = job.kept.quality
    elif job.started_at:
        answer["status"] = "translating"
        if job.seconds_remaining is not None:
            answer["seconds_remaining"] = job.seconds_remaining
    return answer


async def get_document_result(request: DeepLDocumentKeyRequest, context: Context) -> TranslatedFile:
    """Return the translated file."""
    return context.files.find(_find_kept(request, context).address)


async def get_document_quality(
    request: DeepLDocumentKeyRequest, context: Context
) -> TranslatedFile:
    """Return the table of a document's sentences with the quality of each translation."""
    kept = _find_kept(request, context)
    if not kept.table:
        raise Rejection(404, "Document has no quality: send it with quality=true")
    return context.files.find(kept.table)


async def cancel_document(request: DeepLDocumentKeyRequest, context: Context) -> None:
    """Give up the translation of a file, and forget it."""
    context.jobs.cancel(request.document_id, request.document_key, context.owner)


def _find_kept(request: DeepLDocumentKeyRequest, context: Context) -> KeptDocument:
    job = context.jobs.find(request.document_id, request.document_key, context.owner)
    if job.kept is None:
        raise Rejection(503, job.error or "Document translation is not done")
    return job.kept
