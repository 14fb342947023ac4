"""What DeepL's smaller addresses do: a request in, an answer out."""

from headway.ext.server.context import Context
from headway.ext.server.deepl.language_codes import list_sources, list_targets
from headway.ext.server.deepl.messages import DeepLLanguage, DeepLLanguagesRequest, DeepLUsage

UNLIMITED = 1_000_000_000_000  # what DeepL calls the limit of accounts without one


async def deepl_languages(request: DeepLLanguagesRequest, context: Context) -> list[DeepLLanguage]:
    """Return the languages that can be translated from, or into."""
    models = context.models
    return list_targets(models) if request.type == "target" else list_sources(models)


async def deepl_usage(context: Context) -> DeepLUsage:
    """Return how many characters the owner of the key has sent."""
    count = context.characters[context.owner]
    return {"character_count": count, "character_limit": UNLIMITED}
