"""A server under test: in this process, or ``headway serve`` as a process of its own."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from starlette.testclient import TestClient

from headway.cli.main import main
from headway.devices import end_with_parent
from headway.ext.server.app import App
from headway.ext.server.keys import Keys
from headway.ext.server.server import Server
from headway.ext.server.server_settings import ServerConfig
from support.processes import Forked

SHORT = ("--search.max-extra", "7", "--server.split-sentences", "false")


def client_of(models, keys=None, workers=1, **settings):
    """Return a client of a server in this process."""
    config = ServerConfig(**settings)
    return TestClient(App(Server(models, config, Keys(keys) if keys else None, workers)))


def make_scope(path, kind="", method="POST", headers=()):
    """Return the scope of a request of ASGI, with a body of some kind if one is given."""
    kinds = [(b"content-type", kind.encode())] if kind else []
    return {
        "type": "http", "method": method, "path": path, "query_string": b"", "headers": [*headers, *kinds], "client": ("1.2.3.4", 5),
    }  # fmt: skip


async def never():
    """Wait for a message that does not come."""
    await asyncio.Event().wait()
    raise AssertionError


def ask(client, path="/translate", **fields):
    """Ask for the translation of a text, "the cat" by default, from English to German."""
    return client.post(path, json={"q": "the cat", "source": "en", "target": "de", **fields})


def send_file(client, name, data, **fields):
    """Ask for the translation of a file, and wait for it."""
    values = {"source": "en", "target": "de", **fields}
    return client.post("/translate_file", files={"file": (name, data)}, data=values)


def fetch(client, answer, name="translatedFileUrl"):
    """Fetch what the answer to a file names."""
    return client.get(urlsplit(answer.json()[name]).path)


def send_document(client, name, data, **fields):
    """Send a file as DeepL's clients do."""
    values = {"target_lang": "DE", "source_lang": "EN", **fields}
    return client.post("/v2/document", files={"file": (name, data)}, data=values)


def ask_about(client, sent, part=""):
    """Ask for the state of a document, or for a part of it such as its result."""
    key = {"document_key": sent["document_key"]}
    return client.post(f"/v2/document/{sent['document_id']}{part}", json=key)


def wait_for(client, sent):
    """Return the last state of a document."""
    for _ in range(600):
        state = ask_about(client, sent).json()
        if state["status"] in ("done", "error"):
            return state
        time.sleep(0.02)
    raise AssertionError(state)


class Running:
    """A server under test, which is forked if it needs no launcher and no variables of its own.

    Args:
        log: A file, for what it prints.
        arguments: Of the verb.
        while_starting: Called as soon as the process runs.
        first: Called in a forked process before the server starts.
        launcher: Words before the command.
        environment: Variables.
    """

    def __init__(
        self,
        log,
        *arguments,
        while_starting=lambda process: None,
        first=lambda: None,
        launcher=(),
        **environment,
    ):
        self.log = log
        words = ["serve", "--port", "0", *arguments]
        if launcher or environment:
            with log.open("w") as file:
                self.process: subprocess.Popen[bytes] | Forked = subprocess.Popen(
                    [*launcher, sys.executable, "-m", "headway.cli.main", *words],
                    stderr=file,
                    env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
                )
        else:  # it has all modules already
            words.insert(1, "--threads=1")
            parent = os.getpid()

            def serve():
                end_with_parent(parent)
                first()
                main(words)

            self.process = Forked(serve, log)
        while_starting(self.process)
        try:
            self.wait(lambda: "listening at" in self.text(), 200)  # a busy machine imports slowly
            self.url = re.findall(r"listening at (\S+)", self.text())[0]
            self.port = int(self.url.rpartition(":")[2])
            self.wait(lambda: not isinstance(self.ask_health(), Exception))
        except AssertionError:
            self.process.kill()
            self.process.wait()
            raise

    def text(self):
        return self.log.read_text()

    def ask_health(self):
        try:
            return self.get("/health")
        except OSError as error:
            return error

    def wait(self, holds, seconds=40):
        deadline = time.monotonic() + seconds
        while not holds():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(self.text())
            time.sleep(0.02)

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return json.load(answer)

    def metrics(self):
        with urllib.request.urlopen(self.url + "/metrics", timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        pairs = (line.rpartition(" ")[::2] for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def metric(self, name):
        return sum(value for key, value in self.metrics().items() if key.startswith(name))

    def texts_are(self, count):
        return self.metric("headway_queue_texts") == count

    def post(self, path, **fields):
        request = urllib.request.Request(
            self.url + path,
            json.dumps({"source": "en", "target": "de", **fields}).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 10)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)
