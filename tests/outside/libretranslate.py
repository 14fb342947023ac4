"""The same requests to LibreTranslate 1.9.6 and to ours: status, keys and types must agree.

    python3 -m venv build/lt && build/lt/bin/pip install libretranslate==1.9.6
    .venv/bin/python tests/outside/libretranslate.py --libretranslate build/lt/bin/libretranslate --model runs/en-de

The model, English to German, is exported as packages of Argos Translate, so that LibreTranslate translates
offline with the same weights; three directions are served of it. Where LibreTranslate answers 5xx ours must not.
Disagreements that are meant are in LISTED and, with their reasons, in docs/serving.md; any other, and one
that is listed but gone, makes the exit code 1.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from libretranslate_cases import (
    ALTERNATIVES,
    CHARACTERS,
    KEY,
    TEXTS,
    Case,
    cases,
    key_cases,
    rate_cases,
)

PAIRS = (("en", "de"), ("de", "en"), ("de", "fr"))
RATE = 12
LIMITS = {
    "LT_CHAR_LIMIT": str(CHARACTERS),
    "LT_BATCH_LIMIT": str(TEXTS),
    "LT_ALTERNATIVES_LIMIT": str(ALTERNATIVES),
}
# Patterns of names of cases, and why ours answers otherwise.
LISTED = {
    r"/translate \w+: unknown source, smiley": "a language that is not served is rejected, whatever the text",
    r"/translate json: q an empty list in a list": "a list holds texts",
    r"/detect json: q (a number|numbers|true|an object)": "only a text has a language",
    r"/translate json: many more values": "limits are on: so much structure is not read",
    r"/translate raw: (not a number|UTF-16)": "JSON knows no NaN, and is UTF-8",
    r"GET /spec": "OpenAPI 3.0, with this server's facts, instead of Swagger 2.0",
    r"\w+ /download_file/x": "no files are translated, so none has an address",
    r"GET /health": "ours also names the models, their versions and the queue",
    r"/translate query: far too long": "a header, with the address, holds at most 16 KiB",
    r"OPTIONS .*": "OPTIONS is answered before addresses are looked at",
    r"\w+ //translate": "addresses are taken as they are written",
}


class Answer(NamedTuple):
    """What a server said: its status, and its body if that is JSON."""

    status: int
    body: Any


class Server(NamedTuple):
    """A server's port, and what it is called here."""

    name: str
    port: int

    def ask(self, case: Case) -> Answer:
        """Send a request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            headers = {"Content-Type": case.kind} if case.kind else {}
            connection.request(case.method, case.path, case.body or None, headers)
            response = connection.getresponse()
            body = response.read()
            kind = response.getheader("content-type", "")
            return Answer(response.status, json.loads(body) if "json" in kind and body else None)
        finally:
            connection.close()


def shape(value: Any) -> Any:
    """Return the keys and types of a JSON value; lists of anything are as their first."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return "number" if type(value) in (int, float) else type(value).__name__


def alike(a: Any, b: Any) -> bool:
    """Whether two shapes can be the same; an empty list fits any."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return not a or not b or alike(a[0], b[0])
    return bool(a == b)


def difference(theirs: Answer, ours: Answer) -> str:
    """Say in what two answers differ, or nothing."""
    if theirs.status >= 500:
        return f"ours answers {ours.status}, too" if ours.status >= 500 else ""
    if theirs.status != ours.status:
        return f"status {theirs.status}, ours {ours.status}"
    if theirs.body is None:  # an HTML page: ours says the same in JSON
        return ""
    a, b = shape(theirs.body), shape(ours.body)
    if not alike(a, b):
        return f"{a}, ours {b}"
    for name in ("translatedText", "alternatives", "detectedLanguage"):
        if isinstance(theirs.body, dict) and isinstance(theirs.body.get(name), list):
            if name == "alternatives" and not isinstance(theirs.body["translatedText"], list):
                continue
            if len(theirs.body[name]) != len(ours.body[name]):
                return f"{len(theirs.body[name])} values of {name}, ours {len(ours.body[name])}"
    return ""


@contextmanager
def running(name: str, command: list[str], folder: Path, env: dict[str, str]) -> Iterator[Server]:
    """Start a server and stop it again; ``{port}`` in its command is replaced by a free one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [word.format(port=port) for word in command]
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            words, stdout=log, stderr=log, cwd=folder, env=os.environ | LIMITS | env
        )
    try:
        found, deadline = Server(name, port), time.monotonic() + 300
        while True:
            try:
                if found.ask(Case("", "GET", "/health")).status == 200:
                    break
            except OSError:
                pass
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit((folder / f"{name}.log").read_text(encoding="utf-8"))
            time.sleep(0.1)
        yield found
    finally:
        process.terminate()
        process.wait(60)


class Report:
    """Counts what agreed."""

    def __init__(self) -> None:
        self.counts = {"requests": 0, "agree": 0, "5xx of theirs": 0, "listed": 0, "unexpected": 0}
        self.errors = self.same_errors = self.texts = self.same_texts = 0
        self.used: set[str] = set()

    def compare(self, requests: Iterable[Case], theirs: Server, ours: Server) -> None:
        """Send requests to both and tell about disagreements."""
        for case in requests:
            a, b = theirs.ask(case), ours.ask(case)
            self.counts["requests"] += 1
            found = difference(a, b)
            pattern = next((p for p in LISTED if re.fullmatch(p, case.name)), None)
            if found:
                self.used.add(pattern or "")
                kind = "listed" if pattern else "unexpected"
                self.counts[kind] += 1
                print(f"{kind:<11}{case.name[:70]}: {found[:200]}")
            else:
                self.counts["5xx of theirs" if a.status >= 500 else "agree"] += 1
            if isinstance(a.body, dict) and isinstance(b.body, dict) and a.status == b.status:
                if "error" in a.body:
                    self.errors += 1
                    self.same_errors += a.body == b.body
                elif "translatedText" in a.body:
                    self.texts += 1
                    self.same_texts += a.body["translatedText"] == b.body.get("translatedText")

    def end(self) -> int:
        """Print the figures; returns the exit code."""
        gone = sorted(LISTED.keys() - self.used)
        for pattern in gone:
            print(f"listed, but agrees: {pattern}")
        print(", ".join(f"{name} {value}" for name, value in self.counts.items()))
        print(f"of {self.errors} errors {self.same_errors} in the same words")
        print(f"of {self.texts} translations {self.same_texts} are the same")
        return int(bool(self.counts["unexpected"] or gone))


# Argos Translate downloads a splitter of sentences. Offline, a text stays whole.
WHOLE_TEXTS = """
import minisbd
class Whole:
    def __init__(self, *args, **kwargs): pass
    def sentences(self, text): return [text]
minisbd.SBDetect = Whole
"""


def directions(model: Path, folder: Path) -> list[str]:
    """Make a model directory for each pair; the weights are the same."""
    found = []
    settings = json.loads((model / "config.json").read_text(encoding="utf-8"))
    for pair in PAIRS:
        path = folder / "-".join(pair)
        path.mkdir()
        settings["languages"] = list(pair)
        settings["settings"]["search"]["alpha"] = 0.2  # as Argos Translate ranks, nearly
        (path / "config.json").write_text(json.dumps(settings), encoding="utf-8")
        for name in ("model.safetensors", "tokenizer.model"):
            shutil.copyfile(model / name, path / name)
        found.append(str(path))
    return found


def main() -> int:
    """Compare on servers open to all, then with keys, then with rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--libretranslate", type=Path, required=True, help="its executable")
    parser.add_argument("--model", type=Path, required=True, help="run or model, English-German")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, report = Path(name), Report()
        (folder / "db").mkdir()  # theirs counts its metrics there
        python = str(args.libretranslate.parent.absolute() / "python")
        home = {"HOME": name, "OMP_NUM_THREADS": "1", "LT_THREADS": "2"}
        home |= {f"XDG_{kind}_HOME": f"{name}/{kind}" for kind in ("DATA", "CONFIG", "CACHE")}
        (folder / "sitecustomize.py").write_text(WHOLE_TEXTS, encoding="utf-8")
        home["PYTHONPATH"] = name
        models = directions(args.model, folder)
        packages = [f"{model}.argosmodel" for model in models]
        headway = [sys.executable, "-m", "headway.cli.main"]
        for model, package in zip(models, packages, strict=True):
            export = ["export", model, package, "--to", "argos", "--no-verify"]
            subprocess.run([*headway, *export], check=True)
        install = "import sys; from argostranslate.package import install_from_path as install; [install(p) for p in sys.argv[1:]]"
        subprocess.run([python, "-c", install, *packages], check=True, env=os.environ | home)
        theirs = [str(args.libretranslate.absolute()), "--port", "{port}"]
        theirs.append("--disable-files-translation")
        ours = [*headway, "serve", *models, "--pivot", "de", "--port", "{port}"]
        metrics = {"LT_METRICS": "true"}
        with (
            running("theirs", theirs, folder, home | metrics) as a,
            running("ours", ours, folder, {}) as b,
        ):
            report.compare(cases(), a, b)
        database = folder / "keys.db"
        asked = {"LT_API_KEYS": "true", "LT_API_KEYS_DB_PATH": str(database)}
        asked["LT_REQUIRE_API_KEY_ORIGIN"] = "https://nowhere.example"
        (folder / "keys").write_text(KEY + "\n", encoding="utf-8")
        closed = [*ours, "--keys", str(folder / "keys")]
        with (
            running("theirs", theirs, folder, home | asked) as a,
            running("ours", closed, folder, {}) as b,
        ):
            add = [str(args.libretranslate.parent.absolute() / "ltmanage"), "keys"]
            add += ["--api-keys-db-path", str(database), "add", "100000", "--key", KEY]
            subprocess.run(add, check=True, stdout=subprocess.DEVNULL, env=os.environ | home)
            report.compare(key_cases(), a, b)
        limit = {"LT_REQ_LIMIT": str(RATE)}
        with (
            running("theirs", theirs, folder, home | limit) as a,
            running("ours", ours, folder, limit) as b,
        ):
            report.compare(rate_cases(RATE), a, b)
        return report.end()


if __name__ == "__main__":
    sys.exit(main())
