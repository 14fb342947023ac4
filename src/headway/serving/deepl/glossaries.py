"""What DeepL's addresses of glossaries do."""

import asyncio

from headway.inference import Translator
from headway.serving.context import Context
from headway.serving.deepl.entries import parse_entries, write_entries
from headway.serving.deepl.glossary_store import ClientGlossary
from headway.serving.deepl.languages import find_language, source_code
from headway.serving.deepl.messages import (
    DeepLGlossaries,
    DeepLGlossary,
    DeepLGlossaryRequest,
    DeepLNewGlossaryRequest,
    DeepLPairs,
)
from headway.serving.rejection import Rejection

MAX_NAME = 1_024  # bytes


async def glossary_language_pairs(context: Context) -> DeepLPairs:
    """Return the pairs of languages that a glossary can be for."""
    pairs = dict.fromkeys(map(_pair, context.models.pairs))
    return {
        "supported_languages": [
            {"source_lang": source, "target_lang": target} for source, target in pairs
        ]
    }


async def create_glossary(request: DeepLNewGlossaryRequest, context: Context) -> DeepLGlossary:
    """Keep a glossary."""
    if len(request.name.encode("utf-8", "replace")) > MAX_NAME:
        raise Rejection(400, "Value for 'name' not supported.")
    source = find_language(request.source_lang, "source_lang", context.models)
    target = find_language(request.target_lang, "target_lang", context.models)
    languages = _pair((source, target))
    if languages not in map(_pair, context.models.pairs):
        raise Rejection(400, "Unsupported glossary source and target language pair")
    entries = await asyncio.to_thread(
        parse_entries, request.entries, request.entries_format, languages
    )
    text = write_entries(entries.items())
    return _describe(context.deepl.glossaries.add(context.owner, request.name, languages, text))


async def list_glossaries(context: Context) -> DeepLGlossaries:
    """Return the glossaries of the key's owner."""
    found = context.deepl.glossaries.list_of(context.owner)
    return {"glossaries": [_describe(glossary) for glossary in found]}


async def get_glossary(request: DeepLGlossaryRequest, context: Context) -> DeepLGlossary:
    """Return what a glossary is."""
    return _describe(context.deepl.glossaries.find(request.glossary_id, context.owner))


async def get_glossary_entries(request: DeepLGlossaryRequest, context: Context) -> str:
    """Return the entries of a glossary: a source, a tab and a target in each line."""
    return context.deepl.glossaries.find(request.glossary_id, context.owner).entries


async def delete_glossary(request: DeepLGlossaryRequest, context: Context) -> None:
    """Forget a glossary."""
    store = context.deepl.glossaries
    store.remove(store.find(request.glossary_id, context.owner))


async def add_glossary(
    route: list[Translator], glossary_id: str | None, context: Context
) -> list[Translator]:
    """Return the models of a route with a client's glossary.

    Raises:
        Rejection: 400 if the glossary is for other languages, or the route has two models; 404 if
            there is no such glossary.
    """
    if not glossary_id:
        return route
    found = context.deepl.glossaries.find(glossary_id, context.owner)
    if len(route) > 1:
        raise Rejection(400, "A glossary needs one model between two languages")
    if any(
        _pair(translator.languages) != (found.source_lang, found.target_lang)
        for translator in route
    ):
        raise Rejection(400, "source_lang and target_lang must match the glossary")
    glossary = await context.deepl.glossaries.compile(found)
    return [translator.with_glossary(glossary) for translator in route]


def _pair(languages: tuple[str, str]) -> tuple[str, str]:
    """Return DeepL's codes of a pair of served languages; glossaries know no regions."""
    source, target = (source_code(code).lower() for code in languages)
    return source, target


def _describe(glossary: ClientGlossary) -> DeepLGlossary:
    return {
        "glossary_id": glossary.glossary_id, "name": glossary.name, "ready": True,
        "source_lang": glossary.source_lang, "target_lang": glossary.target_lang,
        "creation_time": glossary.creation_time, "entry_count": glossary.entry_count,
    }  # fmt: skip
