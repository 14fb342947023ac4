"""The models that a request needs, by its languages."""

import asyncio
from collections.abc import Sequence

from headway.ext.server.messages import DetectedLanguage
from headway.ext.server.models import Models
from headway.text import is_translatable
from headway.translation import Translator


async def find_route(
    source: str, target: str, texts: Sequence[str], models: Models
) -> tuple[list[Translator], DetectedLanguage | None]:
    """Return the models between two languages, and what was detected if the source is ``auto``.

    Raises:
        Rejection: 400 if a language is not served, or no route leads from the source to the target.
    """
    if source.lower() != "auto":
        source = models.served_code(source, "source")
        target = models.served_code(target, "target")
        return models.require_route(source, target), None
    target = models.served_code(target, "target")
    # The likeliest language counts even if no route leads on from it: a text that is translated from
    # a wrong language becomes nonsense.
    [detected, *_] = await detect_languages(texts, models)
    if not any(map(is_translatable, texts)):
        return [], detected
    return models.require_route(detected["language"], target), detected


async def detect_languages(texts: Sequence[str], models: Models) -> list[DetectedLanguage]:
    """Return which of the served languages texts are in, the likeliest first."""
    ranked = await asyncio.to_thread(models.detector.rank, "\n".join(texts))
    return [{"confidence": round(value, 1), "language": code} for code, value in ranked]
