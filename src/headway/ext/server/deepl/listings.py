"""What DeepL's clients ask about a server: its languages, its glossaries, and how much they have sent."""

from typing import NoReturn

from headway.ext.server.deepl.language_codes import list_sources, list_targets, source_code
from headway.ext.server.deepl.messages import (
    DeepLGlossaries,
    DeepLGlossary,
    DeepLLanguage,
    DeepLLanguagesRequest,
    DeepLPairs,
    DeepLUsage,
)
from headway.ext.server.glossaries import Glossaries, Pair
from headway.ext.server.rejection import Rejection
from headway.ext.server.server import Context

UNLIMITED = 1_000_000_000_000  # what DeepL calls the limit of accounts without one


async def deepl_languages(request: DeepLLanguagesRequest, context: Context) -> list[DeepLLanguage]:
    """Return the languages that can be translated from, or into."""
    models = context.models
    return list_targets(models) if request.type == "target" else list_sources(models)


async def deepl_usage(context: Context) -> DeepLUsage:
    """Return how many characters the owner of the key has sent."""
    count = context.server.usage.characters[context.owner]
    return {"character_count": count, "character_limit": UNLIMITED}


async def glossary_language_pairs(context: Context) -> DeepLPairs:
    """Return the pairs of languages for which clients can make glossaries: none, so that programs do not try."""
    return {"supported_languages": []}


async def list_glossaries(context: Context) -> DeepLGlossaries:
    """Return the glossaries of the server's settings, one for each pair of languages; ``glossary_id`` is the name."""
    found = context.glossaries
    return {"glossaries": [_describe(found, name, pair) for name, pair in found.list_names()]}


async def refuse_change(context: Context) -> NoReturn:
    """Reject that a client makes or deletes a glossary."""
    raise Rejection(
        400,
        "Glossaries come from the settings of this server: clients neither make nor delete them.",
    )


def _describe(glossaries: Glossaries, name: str, pair: Pair) -> DeepLGlossary:
    source, target = (source_code(code).lower() for code in pair)
    return {
        "glossary_id": name, "name": name, "ready": True, "source_lang": source, "target_lang": target,
        "creation_time": glossaries.read_at, "entry_count": len(glossaries.find_named(name, pair).terms),
    }  # fmt: skip
