"""What each address of the server does: fields in, JSON values out."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from headway.errors import HeadwayError
from headway.inference import Translator
from headway.serving.clients import Keys
from headway.serving.interpreter import Interpreter
from headway.serving.languages import translatable
from headway.serving.markup import translate_pages
from headway.serving.models import Models
from headway.serving.passages import Links
from headway.serving.refusal import Refusal, missing, too_long
from headway.serving.settings import ServerConfig
from headway.text.languages import name_of


@dataclass
class Asked:
    """A request's fields and what answers them.

    Attributes:
        fields: As sent.
        typed: Whether they came as JSON.
        models: Those of the moment the request came.
        interpreter: Over these models.
        limits: The server's.
    """

    fields: dict[str, Any]
    typed: bool
    models: Models
    interpreter: Interpreter
    limits: ServerConfig

    def text(self, name: str) -> str:
        """Return a field that must be a text and not empty."""
        value = self.fields.get(name)
        if value is None or value == "":
            raise missing(name)
        if not isinstance(value, str):
            raise Refusal(400, f"Invalid request: {name} parameter is not a string")
        return value

    def texts(self, limited: bool = True) -> list[str]:
        """Return ``q``, one text or several, within the limits of what is translated."""
        q = self.fields.get("q")
        if q is None or q in ("", []):
            raise missing("q")
        texts = q if isinstance(q, list) else [q]
        if not all(isinstance(text, str) for text in texts):
            raise Refusal(400, "Invalid request: q parameter is not a string or a list of strings")
        if limited and len(texts) > self.limits.batch_limit:
            raise too_long(len(texts), self.limits.batch_limit)
        for text in texts:
            if limited and len(text) > self.limits.char_limit:
                raise too_long(len(text), self.limits.char_limit)
        return list(texts)

    def one(self) -> str:
        """Return ``q``, which must be one text here."""
        if isinstance(self.fields.get("q"), list):
            raise Refusal(400, "Invalid request: q parameter is not a string")
        return self.texts()[0]

    def number(self, name: str, most: int) -> int:
        """Return a count; 0 if it is not there or less."""
        value = self.fields.get(name)
        try:
            found = 0 if value is None else max(0, int(value))
        except (ValueError, OverflowError, TypeError):
            raise Refusal(400, f"Invalid request: {name} parameter is not a number") from None
        if found > most:
            raise Refusal(400, f"Invalid request: {name} parameter must be <= {most}")
        return found

    def flag(self, name: str) -> bool:
        """Return whether something is asked for."""
        value = self.fields.get(name, False)
        if isinstance(value, str):
            value = value.lower() in ("1", "true", "yes", "on")
        if not isinstance(value, bool):
            raise Refusal(400, f"Invalid request: {name} parameter is not true or false")
        return value

    async def direction(self, texts: Sequence[str]) -> tuple[list[Translator], str, float | None]:
        """Return the way from ``source`` to ``target``, the source's code, and how sure that is.

        The confidence is None unless the source is to be found out.
        """
        source, target = self.text("source"), self.text("target")
        if source.lower() != "auto":
            source, target = self.models.served(source), self.models.served(target)
            return self.models.ways(source, target), source, None
        target = self.models.served(target)
        # The likeliest, even if no way leads on from it: what is read as another language than it is
        # would come out as nonsense.
        [(source, confidence), *_] = await self.detect(texts)
        if not any(map(translatable, texts)):
            return [], source, confidence
        return self.models.ways(source, target), source, confidence

    async def detect(self, texts: Sequence[str]) -> list[tuple[str, float]]:
        """Return the likely languages of some texts, the likeliest first."""
        return await asyncio.to_thread(self.models.detector.rank, "\n".join(texts))


async def translate(asked: Asked) -> dict[str, Any]:
    """``POST /translate``."""
    if asked.fields.get("q") in (None, "", []):
        raise missing("q")
    for name in ("source", "target"):
        asked.text(name)
    alternatives = asked.number("alternatives", asked.limits.alternatives_limit)
    texts = asked.texts()
    several = isinstance(asked.fields["q"], list)
    route, source, confidence = await asked.direction(texts)
    form = asked.fields.get("format") or "text"
    if form not in ("text", "html"):
        shown = form[:20] if isinstance(form, str) else "this"
        raise Refusal(400, f"{shown} format is not supported")
    if form == "html":
        renderings = await translate_pages(asked.interpreter, route, texts)
    else:
        renderings = await asked.interpreter.translate(route, texts, alternatives)
    answer: dict[str, Any] = {"translatedText": [r.text for r in renderings]}
    if confidence is not None:
        detected = {"confidence": round(confidence, 1), "language": source}
        answer["detectedLanguage"] = [detected] * len(texts)
    if alternatives:
        answer["alternatives"] = [[text for text, _ in r.alternatives] for r in renderings]
    if asked.flag("scores"):
        answer["score"] = [round(r.score, 6) for r in renderings]
        answer["alternativeScores"] = [
            [round(score, 6) for _, score in r.alternatives] for r in renderings
        ]
    return answer if several else {name: values[0] for name, values in answer.items()}


async def detect(asked: Asked) -> list[dict[str, Any]]:
    """``POST /detect``."""
    # Of a long text only the beginning is read: it costs no more than a short one.
    ranked = await asked.detect(asked.texts(limited=False))
    return [{"confidence": round(value, 1), "language": code} for code, value in ranked[:3]]


async def align(asked: Asked) -> dict[str, Any]:
    """``POST /align``: a translation, and which source words each of its words attends to."""
    text = asked.one()
    route, source, confidence = await asked.direction([text])
    [found] = await asked.interpreter.translate(route, [text], align=True)
    links = found.links or Links()
    answer: dict[str, Any] = {
        "translatedText": found.text,
        "sourceWords": _words(text, links.source),
        "targetWords": _words(found.text, links.target),
        "alignment": [list(pair) for pair in links.pairs],
    }
    if confidence is not None:
        answer["detectedLanguage"] = {"confidence": round(confidence, 1), "language": source}
    return answer


def _words(text: str, spans: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    return [{"text": text[a:b], "start": a, "end": b} for a, b in spans]


async def attention(asked: Asked) -> dict[str, Any]:
    """``POST /attention``: the maps of one sentence, and the layouts in which the page draws them."""
    from headway.pictures.maps import LONGEST_TARGET, sentence_maps, source_ids
    from headway.pictures.views import view_json

    text = asked.one()
    if not translatable(text):
        raise Refusal(400, "Invalid request: q parameter has no letter or digit to attend to")
    route, _, _ = await asked.direction([text])
    if len(route) != 1:
        raise Refusal(400, "Invalid request: attention needs one model between two languages")
    target = asked.fields.get("translation") or None
    if target is not None and not isinstance(target, str):
        raise Refusal(400, "Invalid request: translation parameter is not a string")
    if target is not None and len(target) > asked.limits.char_limit:
        raise too_long(len(target), asked.limits.char_limit)
    [translator], batcher, given = route, asked.interpreter.batcher, target
    source = " ".join(text.split())
    try:
        tokens = await batcher.aside(len(source), partial(source_ids, translator, source))
        if target is None:  # as one line, which is what the maps show
            [found] = await Interpreter(batcher, split=False).translate(route, [source])
            target = found.text
        size = len(tokens) + min(len(target), LONGEST_TARGET)
        draw = partial(sentence_maps, translator, source, target)
        [maps] = await batcher.work([lambda: view_json(draw())], [size], begun=given is None)
    except HeadwayError as error:  # the sentence is too long
        raise Refusal(400, f"Invalid request: {error}") from None
    return maps


async def stream(asked: Asked) -> AsyncGenerator[str, None]:
    """``POST /stream``: bits of the translation as they are found, greedily."""
    text = asked.one()
    route, _, _ = await asked.direction([text])
    return asked.interpreter.stream(route, text)


def languages(models: Models) -> list[dict[str, Any]]:
    """``GET /languages``: those that can be translated from, with what they lead to."""
    return [
        {"code": code, "name": name_of(code), "targets": models.targets(code)}
        for code in models.codes
    ]


def frontend_settings(models: Models, limits: ServerConfig, keys: Keys | None) -> dict[str, Any]:
    """``GET /frontend/settings``: what a page must know."""
    target = next(iter(models.pairs))[1]
    return {
        "apiKeys": keys is not None,
        "charLimit": limits.char_limit,
        "filesTranslation": False,
        "frontendTimeout": 500,
        "keyRequired": keys is not None,
        "language": {
            "source": {"code": "auto", "name": "Auto Detect"},
            "target": {"code": target, "name": name_of(target)},
        },
        "suggestions": False,
        "supportedFilesFormat": [],
    }
