"""Serve the translation page with made-up translations, as fast as one can ask; for browser.py.

    python tests/outside/page_server.py --port 5099 --prefix /under/ --folder build/pages

It is the server with other handlers. A translation is the source with its words in capitals, so that hostile text comes
back as hostile text. Some texts are orders: "slow ..." answers after a second, "busy ..." with 429 twice, and
"refuse ..." with 400 and the text as the error. Writes two files of the attention page into the
folder: plain.html, whose weights are those of /attention, and hostile.html (the texts of hostile.json there).
"""

import argparse
import asyncio
import json
from collections import Counter
from functools import wraps
from pathlib import Path

import numpy as np

from headway.cli.main import main as headway
from headway.ext.pictures.html_page import html
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.views import view_json
from headway.ext.server import handlers
from headway.ext.server.app import App
from headway.ext.server.rejection import Rejection

MODEL = Path(__file__).parents[1] / "golden" / "0.2" / "model"  # which translates nothing here
LANGUAGES = [
    {"code": "en", "name": "English", "targets": ["de", "en", "fr"]},
    {"code": "de", "name": "German", "targets": ["de", "en"]},
    {"code": "fr", "name": "<img src=x onerror=alert(1)>", "targets": ["en", "fr"]},
]
SETTINGS = {
    "charLimit": 20000,
    "keyRequired": False,
    "apiKeys": False,
    "quality": True,
    "frontendTimeout": 500,
}
REFUSED = Counter[str]()


def maps_of(source, target, layers=3, heads=8):
    """Make attention of random weights for the words of two texts; each word is two pieces."""
    random = np.random.default_rng(len(source))
    read, written = pieces(source), pieces(target)
    labels = {
        "encoder": (read, read),
        "decoder": (["<start>", *written[:-1]], ["<start>", *written[:-1]]),
        "cross": (written, read),
    }
    made = {}
    for kind, (queries, keys) in labels.items():
        scores = random.normal(0, 2.5, (layers, heads, len(queries), len(keys)))
        if kind == "decoder":
            scores[..., ~np.tri(len(queries), dtype=bool)] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
        made[kind] = AttentionMap(queries, keys, weights)
    return AttentionMaps(source, target, made)


def pieces(text):
    """Cut each word in two, as a tokenizer might; words begin with a space."""
    found = []
    for word in text.split():
        middle = (len(word) + 1) // 2
        found += [f" {word[:middle]}", *([word[middle:]] if word[middle:] else [])]
    return [*found, "</s>"]


def hostile_maps(texts):
    """Make one map whose labels are the texts; each attends to itself."""
    labels = [f" {text}" for text in texts]
    eye = np.eye(len(texts), dtype=np.float32)[None, None]
    return AttentionMaps(texts[0], texts[1], {"encoder": AttentionMap(labels, labels, eye)})


async def translate(request, context):
    q, capitals = request.q, request.q.upper()
    if q.startswith("slow"):
        await asyncio.sleep(1)
    if q.startswith("busy") and REFUSED[q] < 2:
        REFUSED[q] += 1
        raise Rejection(429, "Slowdown", {"Retry-After": "1"})
    if q.startswith("refuse"):
        raise Rejection(400, q)
    answer = {"translatedText": capitals}
    if request.source == "auto":
        answer["detectedLanguage"] = {"confidence": 90.0, "language": "en"}
    if request.quality:
        # The first half is rated badly, and the rest well; characters, not units of UTF-16.
        middle, end = len(capitals) // 2, len(capitals)
        answer["quality"] = 0.5
        answer["sentences"] = [
            {"start": 0, "end": middle, "quality": 0.1, "defects": ["loop"], "repaired": []},
            {"start": middle, "end": end, "quality": 0.9, "defects": [], "repaired": ["numbers"]},
        ]
    if request.alternatives:
        answer["alternatives"] = [f"{q} {n}" for n in range(request.alternatives)]
    return answer


async def align(request, context):
    same = [[i, i] for i in range(len(request.q.split()))]
    return {"translatedText": request.q.upper(), "alignment": same}


async def attention(request, context):
    return view_json(maps_of(request.q, request.translation or request.q.upper()))


async def languages(context):
    return LANGUAGES


async def frontend_settings(context):
    return SETTINGS


def serve_under(prefix):
    """Let the server expect its addresses below a path."""
    answer = App.__call__

    async def answer_below(app, scope, receive, send):
        path = scope.get("path", "").removeprefix(prefix.rstrip("/"))
        await answer(app, {**scope, "path": path}, receive, send)

    App.__call__ = answer_below  # type: ignore[method-assign]


def main():
    """Write the files and serve until killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", required=True)
    parser.add_argument("--prefix", default="/")
    parser.add_argument("--folder", type=Path, required=True)
    args = parser.parse_args()
    texts = json.loads((args.folder / "hostile.json").read_text(encoding="utf-8"))
    source = "The Law will never be perfect , but its making is difficult"
    plain = html(maps_of(source, source.upper()))
    (args.folder / "plain.html").write_text(plain, encoding="utf-8")
    hostile = html(hostile_maps(texts))
    (args.folder / "hostile.html").write_text(hostile, encoding="utf-8")
    for made_up in (translate, align, attention, languages, frontend_settings):
        setattr(handlers, made_up.__name__, wraps(getattr(handlers, made_up.__name__))(made_up))
    serve_under(args.prefix)
    headway(["serve", str(MODEL), "--port", args.port, "--server.char-limit", "20000"])


if __name__ == "__main__":
    main()
