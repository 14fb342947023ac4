"""What DeepL's addresses of glossaries do: clients use those of the server's settings, and make none."""

from headway.ext.server.context import Context
from headway.ext.server.deepl.language_codes import source_code
from headway.ext.server.deepl.messages import (
    DeepLGlossaries,
    DeepLGlossary,
    DeepLPairs,
)
from headway.ext.server.glossaries import Glossaries, Pair
from headway.ext.server.rejection import Rejection
from headway.translation import Translator


async def glossary_language_pairs(context: Context) -> DeepLPairs:
    """Return the pairs of languages for which clients can make glossaries: none, so that programs do not try."""
    return {"supported_languages": []}


async def list_glossaries(context: Context) -> DeepLGlossaries:
    """Return the glossaries of the server's settings, one for each pair of languages; ``glossary_id`` is the name."""
    found = context.glossaries
    return {"glossaries": [_describe(found, name, pair) for name, pair in found.list_names()]}


async def refuse_change(context: Context) -> None:
    """Reject that a client makes or deletes a glossary."""
    raise Rejection(
        400,
        "Glossaries come from the settings of this server: clients neither make nor delete them.",
    )


def add_glossary(
    route: list[Translator], glossary_id: str | None, glossaries: Glossaries
) -> list[Translator]:
    """Return the models of a route with the glossary that a request names.

    Raises:
        Rejection: 404 if there is no such glossary, 400 if it is for other languages, or the route has two models.
    """
    if not glossary_id:
        return route
    if glossary_id not in {name for name, _ in glossaries.list_names()}:
        raise Rejection(
            404, "Glossary not found: glossary_id is the name of one in the server's settings"
        )
    if len(route) > 1:
        raise Rejection(400, "A glossary needs one model between two languages")
    return [
        translator.with_glossary(glossaries.find_named(glossary_id, translator.languages))
        for translator in route
    ]


def _describe(glossaries: Glossaries, name: str, pair: Pair) -> DeepLGlossary:
    source, target = (source_code(code).lower() for code in pair)
    return {
        "glossary_id": name, "name": name, "ready": True, "source_lang": source, "target_lang": target,
        "creation_time": glossaries.read_at, "entry_count": len(glossaries.find_named(name, pair).terms),
    }  # fmt: skip
