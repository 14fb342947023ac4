"""Nothing goes out, and nothing that clients say is written down.

Every Python process of a command gets an audit hook that writes each use of the network to a file and
refuses what is not this machine. ``tests/outside/network.py`` looks at the system's calls instead.
"""

import json
import logging
import os
import subprocess
import sys
from contextlib import suppress

import pytest
from starlette.testclient import TestClient

from headway.ext.server import handlers
from headway.ext.server.app import App
from headway.ext.server.messages import DetectRequest
from headway.ext.server.models import load_models
from headway.ext.server.server import Server
from support.runs import SETTINGS, words, write_corpus
from support.server import SHORT, Running

HOOK = """
import json, os, sys

def hear(event, arguments):
    if event not in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg",
                     "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        return
    address = next((a for a in arguments if isinstance(a, (str, bytes, tuple, list))), None)
    host = address[0] if isinstance(address, (tuple, list)) and address else address
    with open(os.environ["HEARD"], "a") as file:
        file.write(json.dumps([event, str(host)]) + "\\n")
    if str(host) not in ("127.0.0.1", "::1", "localhost", "None"):
        raise OSError("the test allows no network")

sys.addaudithook(hear)
"""
EVERYTHING = """
import importlib, pkgutil, sys
import headway
from headway.cli.main import dispatch

for module in pkgutil.walk_packages(headway.__path__, "headway."):
    importlib.import_module(module.name)
run, corpus, settings = sys.argv[1], sys.argv[2:6], sys.argv[7:]
assert dispatch(["train", run, "--train", *corpus[:2], "--valid", *corpus[2:], "--quiet", *settings]) == 0
for verb in (["translate", run], ["info", run], ["check", run],
             ["evaluate", run, "--source", corpus[2], "--reference", corpus[3]],
             ["picture", run, "a text", "--out", sys.argv[6]]):
    sys.stdin = open(corpus[2])
    dispatch(verb)
print("all done")
"""


@pytest.fixture
def heard(tmp_path, monkeypatch):
    """Watch what the processes that the test starts do with the network; returns the record."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(HOOK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "watch"), prepend=os.pathsep)
    monkeypatch.setenv("HEARD", str(tmp_path / "heard"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (tmp_path / "heard").touch()
    return tmp_path / "heard"


def events(heard):
    return [json.loads(line) for line in heard.read_text().splitlines()]


def python(*arguments):
    return subprocess.run(
        [sys.executable, "-c", *arguments], capture_output=True, text=True, timeout=200, check=False
    )


def test_the_watch_sees_and_refuses(heard):
    code = "import socket; socket.create_connection(('192.0.2.1', 9), 1)"
    assert "the test allows no network" in python(code).stderr
    spawned = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    assert "the test allows no network" in python(spawned).stderr
    assert [host for _, host in events(heard)] == ["192.0.2.1"] * 2


def test_importing_training_and_translating_use_no_network(heard, tmp_path):
    corpus = write_corpus(tmp_path, train=150, valid=7)
    files = [word for word in corpus if not word.startswith("--")]
    picture = str(tmp_path / "picture.svg")
    settings = words(SETTINGS | {"training.max-steps": 3, "training.warmup-steps": 2})
    done = python(EVERYTHING, str(tmp_path / "run"), *files, picture, *settings)
    assert done.stdout.endswith("all done\n"), done.stderr
    assert (tmp_path / "picture.svg").exists()
    assert events(heard) == []


def test_a_server_binds_this_machine_only_and_writes_nothing_down(heard, tmp_path, model_directory):
    (tmp_path / "keys").write_text("Geheimnis\n", encoding="utf-8")
    server = Running(
        tmp_path / "log", str(model_directory), *SHORT, "--keys", str(tmp_path / "keys"),
        first=lambda: exec(HOOK, {}),
    )  # fmt: skip
    text, key = "zebra", "Geheimnis"
    try:
        for path in ("/translate", "/detect", "/align", "/attention", "/stream", "/suggest", "/x"):
            for fields in ({"q": text}, {"q": [text] * 3}, {"q": text * 9_999}, {"q": {text: key}}):
                with suppress(ValueError):  # a stream is no JSON
                    server.post(path, api_key=key, **fields)
            server.post(path, q=text, api_key=key + text)
            server.post(f"{path}?q={text}&api_key={key}", source=text, target=key)
        statuses = [
            server.post("/translate", q=text, api_key=key)[0],
            server.post("/translate", q=text, api_key=key + "2")[0],
            server.post(f"/translate?q={text}&api_key={key}", q=text, target=text, api_key=key)[0],
            server.post(f"/{text}/{key}")[0],
            server.post("/attention", q=text * 90, api_key=key)[0],
        ]
        assert statuses == [200, 403, 400, 404, 400]
        with server.connect() as connection:
            connection.sendall(f"GET /{text} HTTP/1.1\r\n{key}\r\n\r\n".encode())
            connection.recv(65536)
        metrics = str(server.metric("headway_requests_total"))
    finally:
        server.stop()
    found = {tuple(event) for event in events(heard)}
    assert found == {("socket.bind", "127.0.0.1")}
    assert server.text().count("POST /translate ") == 9
    for word in (text, key):
        assert word not in server.text() + metrics


def test_an_error_of_ours_tells_no_text(model_directory, monkeypatch, caplog):
    async def fail(request: DetectRequest, context):
        raise ValueError(f"cannot read {request.q}")

    monkeypatch.setattr(handlers, "detect", fail)
    app = App(Server(load_models([model_directory])))
    with caplog.at_level(logging.DEBUG), TestClient(app, raise_server_exceptions=False) as client:
        answer = client.post("/detect", json={"q": "zebra"})
    assert (answer.status_code, answer.json()) == (500, {"error": "Internal Server Error"})
    assert "ValueError at " in caplog.text
    assert "zebra" not in caplog.text
