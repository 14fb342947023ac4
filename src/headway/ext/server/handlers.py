"""What each address of the server does: a request in, an answer out."""

import hmac
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import NoReturn, cast
from urllib.parse import quote

from headway import __version__
from headway.errors import HeadwayError
from headway.ext.documents import TextTranslation, list_suffixes
from headway.ext.server.clients import read_authorization
from headway.ext.server.file_translation import translate_upload
from headway.ext.server.files import FileJob, TranslatedFile
from headway.ext.server.jobs import Call
from headway.ext.server.messages import (
    Alignment,
    AlignRequest,
    Attention,
    AttentionRequest,
    DetectedLanguage,
    DetectRequest,
    FileRequest,
    FileTranslation,
    FrontendSettings,
    Health,
    Language,
    StreamRequest,
    TranslateRequest,
    Translation,
    Word,
)
from headway.ext.server.model_routes import detect_languages, find_route
from headway.ext.server.openapi import API_VERSION
from headway.ext.server.quality import has_quality, list_sentences
from headway.ext.server.rejection import Rejection
from headway.ext.server.server import Context
from headway.ext.server.text_threads import Account
from headway.ext.server.translation import TextTranslator
from headway.text import Span, WordLinks, is_translatable, name_of

MAX_DETECTED = 3  # languages in an answer of /detect


async def translate(request: TranslateRequest, context: Context) -> Translation:
    """Translate a text or a list of texts."""
    texts = request.q if isinstance(request.q, list) else [request.q]
    route, detected = await find_route(request.source, request.target, texts, context.models)
    translator, quality = context.translator, request.quality
    route = await context.prepare(route, request.glossary, quality)
    if request.format == "html":
        found = await translator.translate_pages(route, texts, quality=quality)
    else:
        found = await translator.translate(route, texts, request.alternatives, quality=quality)
    answers = [_describe(each, request, detected) for each in found]
    if isinstance(request.q, str):
        return answers[0]
    rows = [dict(answer) for answer in answers]
    return cast(Translation, {name: [row[name] for row in rows] for name in rows[0]})


def _describe(
    found: TextTranslation, request: TranslateRequest, detected: DetectedLanguage | None
) -> Translation:
    """Return what a request asks for of the translation of a text."""
    answer = Translation(translatedText=found.text)
    if detected is not None:
        answer["detectedLanguage"] = detected
    if request.alternatives:
        answer["alternatives"] = [text for text, _ in found.alternatives]
    if request.scores:
        answer["score"] = round(found.score, 6)
        answer["alternativeScores"] = [round(score, 6) for _, score in found.alternatives]
    if request.quality:
        answer["quality"] = round(found.quality, 4)
        if request.format == "text":
            answer["sentences"] = list_sentences(found)
    return answer


async def translate_file(request: FileRequest, context: Context) -> FileTranslation:
    """Translate a file, such as a document, subtitles or a message catalog."""
    job = FileJob(context.client)
    await translate_upload(request, job, context)
    here = f"{context.http.base_url}download_file/"
    file, *tables = (f"{here}{quote(job.address_of(each))}" for each in job.files)
    answer = FileTranslation(translatedFileUrl=file)
    if job.quality is not None:
        answer |= {"quality": job.quality, "qualityUrl": tables[0]}
    return answer


async def download(context: Context) -> TranslatedFile:
    """Return a translated file."""
    return context.server.files.find_file(context.http.path_params["name"])


async def detect(request: DetectRequest, context: Context) -> list[DetectedLanguage]:
    """Detect which of the served languages a text is in; the likeliest comes first."""
    texts = request.q if isinstance(request.q, list) else [request.q]
    return (await detect_languages(texts, context.models))[:MAX_DETECTED]


async def align(request: AlignRequest, context: Context) -> Alignment:
    """Translate a text and link each of its words to the words of the translation."""
    route, detected = await find_route(request.source, request.target, [request.q], context.models)
    route = await context.prepare(route, request.glossary)
    [found] = await context.translator.translate(route, [request.q], align=True)
    links = found.links or WordLinks()
    answer = Alignment(
        translatedText=found.text,
        sourceWords=_words(request.q, links.source),
        targetWords=_words(found.text, links.target),
        alignment=[list(pair) for pair in links.pairs],
    )
    if detected is not None:
        answer["detectedLanguage"] = detected
    return answer


async def attention(request: AttentionRequest, context: Context) -> Attention:
    """Return a sentence's attention weights, and the layouts in which the page draws them."""
    from headway.ext.pictures import LONGEST_TARGET, sentence_maps, source_ids, view_json

    if not is_translatable(request.q):
        raise Rejection(400, "Invalid request: q parameter has no letter or digit to attend to")
    route, _ = await find_route(request.source, request.target, [request.q], context.models)
    if len(route) != 1:
        raise Rejection(400, "Invalid request: attention needs one model between two languages")
    [translator], queue, target = route, context.server.queue, request.translation
    source = " ".join(request.q.split())
    try:
        encode = partial(source_ids, translator, source)
        tokens = await queue.threads.run(encode, Account.for_characters(len(source)))
        if not target:  # the maps show one line, so it is translated as one line
            as_one_line = TextTranslator(queue, is_split=False)
            [found] = await as_one_line.translate(route, [source])
            target = found.text
        size = len(tokens) + min(len(target), LONGEST_TARGET)
        is_admitted = not request.translation
        draw = partial(sentence_maps, translator, source, target)
        call = Call(lambda: view_json(draw()), size)
        [maps] = await queue.ask([call], is_admitted=is_admitted)
    except HeadwayError as error:  # the sentence is too long
        raise Rejection(400, f"Invalid request: {error}") from None
    return maps


async def stream(request: StreamRequest, context: Context) -> AsyncGenerator[str, None]:
    """Translate greedily and send the text while it is made.

    The answer is server-sent events: ``token`` with ``{"text"}`` for each part, then ``done`` with
    ``{"translatedText"}``, or ``error`` with ``{"error"}``.
    """
    route, _ = await find_route(request.source, request.target, [request.q], context.models)
    return context.translator.stream(route, request.q)


async def languages(context: Context) -> list[Language]:
    """Return the served languages and what each can be translated into."""
    models = context.models
    return [
        Language(
            code=code,
            name=name_of(code),
            targets=models.targets(code),
            aliases=models.aliases[code],
        )
        for code in models.codes
    ]


async def frontend_settings(context: Context) -> FrontendSettings:
    """Return what a page needs to know about the server."""
    target = next(iter(context.models.pairs))[1]
    return {
        "apiKeys": context.server.keys is not None,
        "charLimit": context.server.config.char_limit,
        "filesTranslation": bool(context.server.config.file_limit),
        "frontendTimeout": 500,
        "keyRequired": context.server.keys is not None,
        "language": {
            "source": {"code": "auto", "name": "Auto Detect"},
            "target": {"code": target, "name": name_of(target)},
        },
        "quality": all(map(has_quality, context.models.pairs.values())),
        "suggestions": False,
        "supportedFilesFormat": list_suffixes() if context.server.config.file_limit else [],
    }


async def health(context: Context) -> Health:
    """Return that the server answers, which models it serves, and how full its queue is."""
    models, queue, config = context.models, context.server.queue, context.server.config
    return {
        "status": "ok",
        "version": __version__,
        "api": API_VERSION,
        "models": [
            {"source": source, "target": target, "version": models.versions[source, target]}
            for source, target in models.pairs
        ],
        "queue": {
            "texts": queue.texts, "textsLimit": config.queue_texts,
            "tokens": queue.waiting.tokens, "tokensLimit": config.queue_tokens,
        },
    }  # fmt: skip


async def metrics(context: Context) -> str:
    """Return counters for Prometheus."""
    token = context.server.config.metrics_token
    given = read_authorization(context.http.headers).encode()
    if token and not hmac.compare_digest(given, f"Bearer {token}".encode()):
        raise Rejection(401, "Unauthorized", {"WWW-Authenticate": "Bearer"})
    return context.server.metrics.to_text()


async def suggest(context: Context) -> NoReturn:
    """Suggestions are not taken."""
    raise Rejection(403, "Suggestions are disabled on this server.")


def _words(text: str, spans: Sequence[Span]) -> list[Word]:
    return [{"text": text[a:b], "start": a, "end": b} for a, b in spans]
