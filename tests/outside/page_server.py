"""Serve the translation page with made-up translations, as fast as one can ask; for browser.py.

    python tests/outside/page_server.py --port 5099 --prefix /under/ --folder build/pages

A translation is the source with its words in capitals, so that hostile text comes back as hostile
text. Some texts are orders: "slow ..." answers after a second, "busy ..." with 429 twice, and
"refuse ..." with 400 and the text as the error. Writes two files of the attention page into the
folder: plain.html, whose weights are those of /attention, and hostile.html (the texts of hostile.json there).
"""

import argparse
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headway.ext.pictures.html_page import html
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.views import view_json
from headway.ext.server.page_files import page_files

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


class Handler(BaseHTTPRequestHandler):
    """Answers as the server does, without a model."""

    prefix = "/"
    refused: ClassVar[dict[str, int]] = {}

    def log_message(self, *_):
        """Say nothing."""

    def send(self, status, body, kind, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", "default-src 'self'; img-src 'self' data:")
        self.send_header("X-Content-Type-Options", "nosniff")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def answer(self, value, status=200, **headers):
        self.send(status, json.dumps(value).encode(), "application/json", **headers)

    def do_GET(self):
        path = self.path.removeprefix(self.prefix.rstrip("/"))
        if path in (files := page_files()):
            self.send(200, *files[path])
        elif path == "/languages":
            self.answer(LANGUAGES)
        elif path == "/frontend/settings":
            self.answer(SETTINGS)
        else:
            self.answer({"error": "not found"}, 404)

    def do_POST(self):
        path = self.path.removeprefix(self.prefix.rstrip("/"))
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        q = body["q"]
        if path == "/translate":
            self.translate(q, body)
        elif path == "/align":
            same = [[i, i] for i in range(len(q.split()))]
            self.answer({"translatedText": q.upper(), "alignment": same})
        elif path == "/attention":
            self.answer(view_json(maps_of(q, body.get("translation") or q.upper())))
        else:
            self.answer({"error": "not found"}, 404)

    def translate(self, q, body):
        if q.startswith("slow"):
            time.sleep(1)
        if q.startswith("busy") and self.refused.setdefault(q, 0) < 2:
            self.refused[q] += 1
            return self.answer({"error": "Slowdown"}, 429, Retry_After="1")
        if q.startswith("refuse"):
            return self.answer({"error": q}, 400)
        answer: dict[str, Any] = {"translatedText": q.upper()}
        if body["source"] == "auto":
            answer["detectedLanguage"] = {"confidence": 90.0, "language": "en"}
        if body.get("quality"):
            # The first half is rated badly, and the rest well; characters, not units of UTF-16.
            middle, end = len(q.upper()) // 2, len(q.upper())
            answer["quality"] = 0.5
            answer["sentences"] = [
                {"start": 0, "end": middle, "quality": 0.1, "defects": ["loop"], "repaired": []},
                {
                    "start": middle,
                    "end": end,
                    "quality": 0.9,
                    "defects": [],
                    "repaired": ["numbers"],
                },
            ]
        if body.get("alternatives"):
            answer["alternatives"] = [f"{q} {n}" for n in range(body["alternatives"])]
        return self.answer(answer)


class QuietServer(ThreadingHTTPServer):
    """Does not report errors: a browser may leave before its answer."""

    def handle_error(self, request, client_address):
        """Ignore the error."""


def main():
    """Write the files and serve until killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--prefix", default="/")
    parser.add_argument("--folder", type=Path, required=True)
    args = parser.parse_args()
    texts = json.loads((args.folder / "hostile.json").read_text(encoding="utf-8"))
    source = "The Law will never be perfect , but its making is difficult"
    plain = html(maps_of(source, source.upper()))
    (args.folder / "plain.html").write_text(plain, encoding="utf-8")
    hostile = html(hostile_maps(texts))
    (args.folder / "hostile.html").write_text(hostile, encoding="utf-8")
    Handler.prefix = args.prefix
    server = QuietServer(("127.0.0.1", args.port), Handler)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
