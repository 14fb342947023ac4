"""What the addresses of documents do: a file is sent, asked for, and fetched or given up."""

import secrets
from pathlib import PurePath

from headway.ext.documents import describe_unknown, list_suffixes
from headway.ext.server.deepl.messages import (
    DeepLDocument,
    DeepLDocumentKeyRequest,
    DeepLDocumentRequest,
    DeepLDocumentStatus,
)
from headway.ext.server.deepl.text import check_formality, check_glossary
from headway.ext.server.file_translation import translate_upload
from headway.ext.server.files import FileJob, TranslatedFile, Upload
from headway.ext.server.messages import FileRequest
from headway.ext.server.rejection import Rejection
from headway.ext.server.server import Context


async def upload_document(request: DeepLDocumentRequest, context: Context) -> DeepLDocument:
    """Begin to translate a file."""
    upload = Upload(request.filename or request.file.name, request.file.data)
    suffix = PurePath(upload.name).suffix.lower()
    if suffix not in list_suffixes():
        message = f"{upload.name}: {describe_unknown(suffix)}"
        raise Rejection(400, f"Invalid file data: {message}")
    if request.output_format and f".{request.output_format.lower()}" != suffix:
        raise Rejection(400, "Value for 'output_format' not supported.")
    check_formality(request.formality)
    if request.glossary_id and request.glossary:
        raise Rejection(400, "Send glossary_id or glossary, not both.")
    check_glossary(request.glossary_id, request.source_lang, context.glossaries)
    target = context.models.served_code(request.target_lang, "target_lang")
    source, route = "auto", []
    if request.source_lang:
        source = context.models.served_code(request.source_lang, "source_lang")
        route = context.models.require_route(source, target)
        if not route:
            raise Rejection(400, "Source and target language are equal.")
    named = request.glossary_id or request.glossary
    order = FileRequest(
        file=upload, source=source, target=target, columns=request.columns, glossary=named, quality=request.quality,
    )  # fmt: skip
    if route:
        await context.prepare(route, named, request.quality)  # rejects what is wrong now
    job = FileJob(context.client, key=secrets.token_hex(32).upper())
    context.server.files.start(job, _translate(order, job, context))
    return {"document_id": job.name, "document_key": job.key}


async def _translate(order: FileRequest, job: FileJob, context: Context) -> None:
    await translate_upload(order, job, context)
    context.server.usage.characters[context.owner] += job.total


async def get_document(request: DeepLDocumentKeyRequest, context: Context) -> DeepLDocumentStatus:
    """Return how far the translation of a file is."""
    job = _find_job(request, context)
    answer = DeepLDocumentStatus(document_id=job.name, status="queued")
    if job.error:
        answer |= {"status": "error", "error_message": job.error, "message": job.error}
    elif job.files:
        answer |= {"status": "done", "billed_characters": job.total}
        if job.quality is not None:
            answer["quality"] = job.quality
    elif job.started_at:
        answer["status"] = "translating"
        if job.seconds_remaining is not None:
            answer["seconds_remaining"] = job.seconds_remaining
    return answer


async def get_document_result(request: DeepLDocumentKeyRequest, context: Context) -> TranslatedFile:
    """Return the translated file."""
    return _find_files(request, context)[0]


async def get_document_quality(
    request: DeepLDocumentKeyRequest, context: Context
) -> TranslatedFile:
    """Return the table of a document's sentences with the quality of each translation."""
    files = _find_files(request, context)
    if len(files) < 2:
        raise Rejection(404, "Document has no quality: send it with quality=true")
    return files[1]


async def cancel_document(request: DeepLDocumentKeyRequest, context: Context) -> None:
    """Give up the translation of a file, and forget it."""
    context.server.files.cancel(_find_job(request, context))


def _find_job(request: DeepLDocumentKeyRequest, context: Context) -> FileJob:
    name = context.http.path_params["document_id"]
    return context.server.files.find_job(name, request.document_key, context.owner)


def _find_files(request: DeepLDocumentKeyRequest, context: Context) -> list[TranslatedFile]:
    job = _find_job(request, context)
    if not job.files:
        raise Rejection(503, job.error or "Document translation is not done")
    return job.files
