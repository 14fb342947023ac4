"""What each address of the server does: a request in, an answer out."""

from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import TypeVar
from urllib.parse import quote

from headway import __version__
from headway.errors import HeadwayError
from headway.ext.documents import DocumentOptions, list_suffixes
from headway.ext.server.context import Context
from headway.ext.server.file_translation import keep_document, open_upload, translate_document
from headway.ext.server.glossaries import add_named_glossary
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
from headway.ext.server.quality import check_quality, has_quality, list_sentences
from headway.ext.server.rejection import Rejection
from headway.ext.server.text_threads import Account
from headway.ext.server.translation import TextTranslator
from headway.text import Span, WordLinks, is_translatable, name_of

V = TypeVar("V")
MAX_DETECTED = 3  # languages in an answer of /detect


async def translate(request: TranslateRequest, context: Context) -> Translation:
    """Translate a text or a list of texts."""
    is_list = isinstance(request.q, list)
    texts = request.q if isinstance(request.q, list) else [request.q]
    route, detected = await find_route(request.source, request.target, texts, context.models)
    route = await add_named_glossary(route, request.glossary, context.glossaries)
    if request.quality:
        check_quality(route)
    quality = request.quality
    if request.format == "html":
        found = await context.translator.translate_pages(route, texts, quality=quality)
    else:
        found = await context.translator.translate(
            route, texts, request.alternatives, quality=quality
        )

    def for_each(values: list[V]) -> V | list[V]:
        return values if is_list else values[0]

    answer = Translation(translatedText=for_each([t.text for t in found]))
    if detected is not None:
        answer["detectedLanguage"] = for_each([detected] * len(texts))
    if request.alternatives:
        answer["alternatives"] = _for_each_list(
            [[text for text, _ in t.alternatives] for t in found], is_list
        )
    if request.scores:
        answer["score"] = for_each([round(t.score, 6) for t in found])
        answer["alternativeScores"] = _for_each_list(
            [[round(score, 6) for _, score in t.alternatives] for t in found], is_list
        )
    if quality:
        answer["quality"] = for_each([round(t.quality, 4) for t in found])
        if request.format == "text":
            answer["sentences"] = _for_each_list([*map(list_sentences, found)], is_list)
    return answer


def _for_each_list(values: list[list[V]], is_list: bool) -> list[V] | list[list[V]]:
    return values if is_list else values[0]


async def translate_file(request: FileRequest, context: Context) -> FileTranslation:
    """Translate a file, such as a document, subtitles or a message catalog."""
    if not context.config.file_limit:
        raise Rejection(403, "Files translation are disabled on this server.")
    models, upload = context.models, request.file
    is_known = request.source.lower() != "auto"
    source = models.served_code(request.source, "source") if is_known else ""
    target = models.served_code(request.target, "target")
    options = DocumentOptions(source, target, (request.columns or "",))
    async with context.files.reserve() as process:
        paragraphs, route = await open_upload(process, upload, options, models, request.quality)
        route = await add_named_glossary(route, request.glossary, context.glossaries)
        if request.quality:
            check_quality(route)
        translated = await translate_document(
            context.queue, route, process, paragraphs, quality=request.quality,
            is_split=context.config.split_sentences,
        )  # fmt: skip
    kept = keep_document(context.files, upload.name, target, translated)
    answer = FileTranslation(translatedFileUrl=f"download_file/{quote(kept.address)}")
    if kept.quality is not None:
        answer |= {"quality": kept.quality, "qualityUrl": f"download_file/{quote(kept.table)}"}
    return answer


async def detect(request: DetectRequest, context: Context) -> list[DetectedLanguage]:
    """Detect which of the served languages a text is in; the likeliest comes first."""
    texts = request.q if isinstance(request.q, list) else [request.q]
    return (await detect_languages(texts, context.models))[:MAX_DETECTED]


async def align(request: AlignRequest, context: Context) -> Alignment:
    """Translate a text and link each of its words to the words of the translation."""
    route, detected = await find_route(request.source, request.target, [request.q], context.models)
    route = await add_named_glossary(route, request.glossary, context.glossaries)
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
    [translator], queue, target = route, context.queue, request.translation
    source = " ".join(request.q.split())
    try:
        encode = partial(source_ids, translator, source)
        tokens = await queue.threads.run(encode, Account.for_characters(len(source)))
        if target is None:  # the maps show one line, so it is translated as one line
            as_one_line = TextTranslator(queue, is_split=False)
            [found] = await as_one_line.translate(route, [source])
            target = found.text
        size = len(tokens) + min(len(target), LONGEST_TARGET)
        is_admitted = request.translation is None
        draw = partial(sentence_maps, translator, source, target)
        [maps] = await queue.run([lambda: view_json(draw())], [size], is_admitted)
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


def languages(context: Context) -> list[Language]:
    """Return the served languages and what each can be translated into."""
    models = context.models
    return [
        Language(code=code, name=name_of(code), targets=models.targets(code))
        for code in models.codes
    ]


def frontend_settings(context: Context) -> FrontendSettings:
    """Return what a page needs to know about the server."""
    target = next(iter(context.models.pairs))[1]
    return {
        "apiKeys": context.needs_key,
        "charLimit": context.config.char_limit,
        "filesTranslation": bool(context.config.file_limit),
        "frontendTimeout": 500,
        "keyRequired": context.needs_key,
        "language": {
            "source": {"code": "auto", "name": "Auto Detect"},
            "target": {"code": target, "name": name_of(target)},
        },
        "quality": all(map(has_quality, context.models.pairs.values())),
        "suggestions": False,
        "supportedFilesFormat": list_suffixes() if context.config.file_limit else [],
    }


def health(context: Context) -> Health:
    """Return that the server answers, which models it serves, and how full its queue is."""
    models, queue, config = context.models, context.queue, context.config
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


def _words(text: str, spans: Sequence[Span]) -> list[Word]:
    return [{"text": text[a:b], "start": a, "end": b} for a, b in spans]
