"""Translation of the texts of a request to ``/v2/translate``."""

import asyncio
import re
from collections.abc import Callable, Sequence

from headway.errors import HeadwayError
from headway.ext.documents import TextTranslation, XmlTags, XmlText
from headway.ext.server.deepl.language_codes import source_code
from headway.ext.server.deepl.messages import DeepLTextRequest, DeepLTranslation, DeepLTranslations
from headway.ext.server.glossaries import Glossaries
from headway.ext.server.models import Models
from headway.ext.server.rejection import Rejection
from headway.ext.server.server import Context
from headway.ext.server.translation import TextTranslator
from headway.text import is_translatable
from headway.translation import Translator

MAX_TEXTS = 50
# A line break between lines with text; an empty line separates paragraphs.
_SINGLE_BREAK = re.compile(r"(?<=[^\s])[ \t]*(?:\r\n|\n|\r)[ \t]*(?=[^\s])")


async def translate(request: DeepLTextRequest, context: Context) -> DeepLTranslations:
    """Translate up to 50 texts."""
    texts = request.text if isinstance(request.text, list) else [request.text]
    if len(texts) > MAX_TEXTS:
        raise Rejection(400, f"Value for 'text' not supported: more than {MAX_TEXTS} texts.")
    check_formality(request.formality)
    check_glossary(request.glossary_id, request.source_lang, context.glossaries)
    target = context.models.served_code(request.target_lang, "target_lang")
    sources = await _find_sources(request, texts, context.models)
    found: dict[int, TextTranslation] = {}
    for source in dict.fromkeys(sources):  # mostly one
        numbers = [number for number, each in enumerate(sources) if each == source]
        chosen = [texts[number] for number in numbers]
        route = []
        if any(map(is_translatable, chosen)):
            found_route = context.models.require_route(source, target)
            route = await context.prepare(found_route, request.glossary_id)
        found |= zip(numbers, await _translate(request, route, chosen, context), strict=True)
    context.server.usage.characters[context.owner] += sum(map(len, texts))
    return {
        "translations": [
            _describe(texts[number], source_code(source), found[number].text, request)
            for number, source in enumerate(sources)
        ]
    }


def check_formality(formality: str) -> None:
    """Reject a formality that no model can follow.

    Raises:
        Rejection: 400.
    """
    if formality in ("more", "less"):
        raise Rejection(400, "'formality' is not supported for given 'target_lang'.")


def check_glossary(glossary_id: str, source_lang: str, known: Glossaries) -> None:
    """Reject a request with a glossary and without a source language, as DeepL does, or with an unknown glossary.

    Raises:
        Rejection: 400 or 404.
    """
    if not glossary_id:
        return
    if not source_lang:
        message = "Use of a glossary requires the source_lang parameter to be specified"
        raise Rejection(400, message)
    if glossary_id not in {name for name, _ in known.list_names()}:
        raise Rejection(
            404, "Glossary not found: glossary_id is the name of one in the server's settings"
        )


def _describe(
    text: str, source: str, translation: str, request: DeepLTextRequest
) -> DeepLTranslation:
    answer = DeepLTranslation(detected_source_language=source, text=translation)
    if request.show_billed_characters:
        answer["billed_characters"] = len(text)
    return answer


async def _find_sources(
    request: DeepLTextRequest, texts: Sequence[str], models: Models
) -> list[str]:
    """Return the language of each text: the given one, or the likeliest of the served ones."""
    if request.source_lang:
        return [models.served_code(request.source_lang, "source_lang")] * len(texts)
    rank = models.detector.rank
    return await asyncio.to_thread(lambda: [rank(text)[0][0] for text in texts])


async def _translate(
    request: DeepLTextRequest, route: Sequence[Translator], texts: Sequence[str], context: Context
) -> list[TextTranslation]:
    """Translate texts of one language."""
    is_split = context.server.config.split_sentences and request.split_sentences != "0"
    translator = TextTranslator(context.server.queue, is_split)
    if request.split_sentences == "nonewlines" and request.tag_handling != "html":
        texts = [_SINGLE_BREAK.sub(" ", text) for text in texts]
    match request.tag_handling:
        case "html":
            return await translator.translate_pages(route, texts)
        case "xml":
            return await translator.translate_pages(route, texts, _xml_reader(request))
    return await translator.translate(route, texts)


def _xml_reader(request: DeepLTextRequest) -> Callable[[str], XmlText]:
    tags = XmlTags(
        splitting=_names(request.splitting_tags),
        inline=_names(request.non_splitting_tags),
        ignored=_names(request.ignore_tags),
        is_outlined=request.outline_detection,
    )

    def read(text: str) -> XmlText:
        try:
            return XmlText(text, tags)
        except HeadwayError as error:
            message = f"Tag handling parsing failed, please check input: the text {error}"
            raise Rejection(400, message) from None

    return read


def _names(given: str | list[str]) -> frozenset[str]:
    """Return the names of a list, whose items may be lists with commas; prefixes do not count."""
    texts = [given] if isinstance(given, str) else given
    names = (name.strip().rpartition(":")[2] for text in texts for name in text.split(","))
    return frozenset(filter(None, names))
