"""The same requests to LibreTranslate 1.9.6 and to ours: status, keys and types must agree.

    python3 -m venv build/lt && build/lt/bin/pip install libretranslate==1.9.6
    .venv/bin/python tests/outside/libretranslate.py --libretranslate build/lt/bin/libretranslate --model runs/en-de

The model, English to German, is exported as packages of Argos Translate, so that LibreTranslate translates
offline with the same weights; three directions are served of it. Where LibreTranslate answers 5xx ours must not.
Disagreements that are meant are in LISTED and, with their reasons, in docs/clients.md; any other, and one
that is listed but gone, breaks a promise.
"""

import http.client
import json
import os
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.campaign import Campaign
from support.cases import read_rows
from support.http_requests import Case, read_requests
from support.proxies import copy_model, free_port, serving

PAIRS = ("en-de", "de-en", "de-fr")
REQUESTS = read_requests(Path(__file__).with_suffix(".jsonl"))
PATHS = (
    *("/translate", "/detect", "/languages", "/frontend/settings", "/health", "/spec", "/suggest"),
    *("/translate_file", "/download_file/x", "/", "/metrics", "/nothing", "/translate/"),
    *("/languages/", "/Translate", "/translate%00", "//translate"),
)
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")
# The requests are made for these.
LIMITS = {"LT_CHAR_LIMIT": "300", "LT_BATCH_LIMIT": "5", "LT_ALTERNATIVES_LIMIT": "4"}
KEY, RATE = "right-key", {"LT_REQ_LIMIT": "12"}
# Patterns of names of cases, and why ours answers otherwise.
LISTED = read_rows(__file__, "LISTED")


class Answer(NamedTuple):
    """What a server said: its status, and its body if that is JSON."""

    status: int
    body: Any


def ask(port, case, address):
    """Send a request on a connection of its own, as a client with an address of this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", port, 120, (address, 0))
    try:
        connection.request(case.method, case.path, case.body or None, dict(case.headers))
        response = connection.getresponse()
        body = response.read()
        kind = response.getheader("content-type", "")
        return Answer(response.status, json.loads(body) if "json" in kind and body else None)
    finally:
        connection.close()


def shape(value):
    """Return the keys and types of a JSON value; lists of anything are as their first."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return "number" if type(value) in (int, float) else type(value).__name__


def alike(a, b):
    """Whether two shapes can be the same; an empty list fits any."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return not a or not b or alike(a[0], b[0])
    return bool(a == b)


def difference(theirs, ours):
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


# Argos Translate downloads a splitter of sentences. Offline, a text stays whole.
WHOLE_TEXTS = """
import minisbd
class Whole:
    def __init__(self, *args, **kwargs): pass
    def sentences(self, text): return [text]
minisbd.SBDetect = Whole
"""


class Comparison(Campaign):
    """Requests that both servers answer."""

    def work(self):
        """Compare on servers open to all, then with keys, then with rates."""
        folder, name = self.folder, str(self.folder)
        (folder / "db").mkdir()  # theirs counts its metrics there
        programs = self.options.libretranslate.parent.absolute()
        self.home = {"HOME": name, "OMP_NUM_THREADS": "1", "LT_THREADS": "2", "PYTHONPATH": name}
        self.home |= {f"XDG_{kind}_HOME": f"{name}/{kind}" for kind in ("DATA", "CONFIG", "CACHE")}
        (folder / "sitecustomize.py").write_text(WHOLE_TEXTS, encoding="utf-8")
        models = [str(path) for path in copy_model(self.options.model, folder, PAIRS)]
        packages = [f"{model}.argosmodel" for model in models]
        headway = [sys.executable, "-m", "headway.cli.main"]
        for model, package in zip(models, packages, strict=True):
            export = ["export", model, package, "--to", "argos", "--no-verify"]
            subprocess.run([*headway, *export], check=True)
        install = "import sys; from argostranslate.package import install_from_path as install; [install(p) for p in sys.argv[1:]]"
        self.run_theirs(programs / "python", "-c", install, *packages)
        self.theirs = [str(self.options.libretranslate.absolute()), "--disable-files-translation"]
        self.ours = [*headway, "serve", *models, "--pivot", "de", "--server.file-limit", "0"]
        self.ours += ["--search.alpha", "0.2"]  # as Argos Translate ranks, nearly
        self.used: set[str] = set()
        methods = [Case(f"{method} {path}", method, path) for path in PATHS for method in METHODS]
        self.ask_both([*REQUESTS["open"], *methods], {"LT_METRICS": "true"})
        database = folder / "keys.db"
        database.touch()  # ltmanage makes none
        (folder / "keys").write_text(KEY + "\n", encoding="utf-8")
        add = ["keys", "--api-keys-db-path", str(database), "add", "100000", "--key", KEY]
        self.run_theirs(programs / "ltmanage", *add)
        asked = {"LT_API_KEYS": "true", "LT_API_KEYS_DB_PATH": str(database)}
        asked["LT_REQUIRE_API_KEY_ORIGIN"] = "https://nowhere.example"
        self.ask_both(REQUESTS["keys"], asked, more=["--keys", str(folder / "keys")])
        self.ask_both(REQUESTS["rates"], RATE, RATE)
        for pattern in LISTED.keys() - self.used:
            self.expect(False, f"listed, but agrees: {pattern}")

    def run_theirs(self, *words):
        """Run one of their programs."""
        subprocess.run([*map(str, words)], check=True, env=os.environ | self.home)

    def ask_both(self, requests, theirs, ours=None, more=()):
        """Compare the two servers, each with its own variables, and more options for ours."""
        ports = []
        with ExitStack() as stack:
            for name, command, variables in (
                ("theirs", self.theirs, self.home | theirs), ("ours", [*self.ours, *more], ours or {}),
            ):  # fmt: skip
                ports.append(free_port())
                url, log = f"http://127.0.0.1:{ports[-1]}/health", self.folder / f"{name}.log"
                words = [*command, "--port", str(ports[-1])]
                stack.enter_context(serving(words, url, log, os.environ | LIMITS | variables))
            for number, case in enumerate(requests):
                # The server slows an address that tries unknown keys, so each request comes from another one; for rates all come from one.
                address = (
                    "127.0.0.1"
                    if theirs is RATE
                    else f"127.0.{1 + number // 250}.{1 + number % 250}"
                )
                self.judge(case, *(ask(port, case, address) for port in ports))

    def judge(self, case, theirs, ours):
        """Count what agrees, and tell about disagreements."""
        found = difference(theirs, ours)
        pattern = next((each for each in LISTED if re.fullmatch(each, case.name)), "")
        self.counts["requests"] += 1
        if found:
            self.used.add(pattern)
            self.counts["listed disagreements"] += bool(pattern)
            self.expect(bool(pattern), f"{case.name[:70]}: {found[:200]}")
        else:
            self.counts["5xx of theirs" if theirs.status >= 500 else "agree"] += 1
        bodies = theirs.body, ours.body
        if all(isinstance(body, dict) for body in bodies) and theirs.status == ours.status:
            for name in ("error", "translatedText"):
                if name in theirs.body:
                    self.counts[f"{name}: answers"] += 1
                    self.counts[f"{name}: the same"] += bodies[0][name] == bodies[1].get(name)


if __name__ == "__main__":
    given = {"type": Path, "required": True}
    Comparison.run(__doc__, {"--libretranslate": given, "--model": given})
