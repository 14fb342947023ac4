"""The requests of the record get answers as the server's own description says."""

import re
import shutil
import time
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from starlette.testclient import TestClient

from headway.ext.quality.quality_model import FEATURES, QualityModel
from headway.ext.server.app import App
from headway.ext.server.models import load_models
from headway.ext.server.server import Server
from support.http_requests import read_requests

REQUESTS = read_requests(Path(__file__).parents[2] / "record" / "cases" / "requests.jsonl")
LISTS = ("fields", "encodings", "words", "streams", "files", "deepl", "deepl_errors", "errors", "information", "descriptions")  # fmt: skip
KINDS = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}  # fmt: skip


@pytest.fixture
def client(model_directory, tmp_path):
    rated = shutil.copytree(model_directory, tmp_path / "model")
    QualityModel(-1.0, dict.fromkeys(FEATURES, 0.5)).save(rated)
    models = load_models([rated], overrides={"search.max-extra": "3", "search.beam": "1"})
    with TestClient(App(Server(models)), raise_server_exceptions=False) as found:
        yield found


def send(client, case, own):
    """Send a request with values that the server has made, until its answer has one of the states that the case ends with."""

    def fill(text):
        for label, value in own.items():
            text = text.replace(label, value).replace(quote_plus(label), quote_plus(value))
        return text

    body = fill(case.body.decode("latin-1")).encode("latin-1")
    headers = [(name, fill(value)) for name, value in case.headers]
    for _ in range(600):
        answer = client.request(case.method, fill(case.path), headers=headers, content=body)
        if not case.ends or answer.status_code != 200 or answer.json()["status"] in case.ends:
            return answer
        time.sleep(0.02)
    raise AssertionError(case.name)


def fits(spec, schema, value):
    """Return whether a value is as a schema says, of which answers have only these parts."""
    if "$ref" in schema:
        schema = spec["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return any(fits(spec, each, value) for each in schema["anyOf"])
    is_right = isinstance(value, KINDS.get(schema.get("type"), object))
    if isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        is_right &= {*schema.get("required", ())} <= value.keys() <= known.keys()
        return is_right and all(fits(spec, known[name], each) for name, each in value.items())
    if isinstance(value, list):
        return is_right and all(fits(spec, schema["items"], each) for each in value)
    return is_right and value in schema.get("enum", [value])


@pytest.mark.slow
def test_answers_are_as_the_description_says(client):
    spec, own, seen = client.get("/spec").json(), {}, set()
    patterns = {path: re.compile(re.sub(r"\{\w+\}", "[^/]+", path)) for path in spec["paths"]}
    for case in (case for name in LISTS for case in REQUESTS[name]):
        if {"host", "content-length"} & {name.lower() for name, _ in case.headers}:
            continue  # what HTTP itself forbids is not described
        answer = send(client, case, own)
        place = answer.request.url.path
        shown = f"{case} -> {answer.status_code} {answer.text[:300]!r}"
        kind = answer.headers.get("content-type", "").partition(";")[0]
        values = answer.json() if kind == "application/json" and answer.content else None
        assert answer.status_code < 500 or (answer.status_code == 503 and "document" in place), (
            shown
        )
        if answer.status_code >= 400:
            [(name, message)] = values.items() if values else [("error", "HEAD")]
            assert (name in ("error", "message"), bool(message), "\n" in message) == (
                True,
                True,
                False,
            ), shown
        path = next((each for each, own in patterns.items() if own.fullmatch(place)), "")
        operation = spec["paths"].get(path, {}).get(case.method.lower())
        if operation is None:
            continue
        if answer.status_code >= 400:
            assert [*values] == ["message" if place.startswith("/v2/") else "error"], shown
        assert str(answer.status_code) in {*operation["responses"], "404", "405"}, shown
        if answer.status_code < 300:
            seen.add(path)
            described = operation["responses"][str(answer.status_code)].get("content", {})
            assert kind in described or not answer.content, shown
            if values is not None:
                assert fits(spec, described[kind]["schema"], values), shown
        if isinstance(values, dict):
            own |= {f"<{name} of {case.name}>": each for name, each in values.items() if isinstance(each, str)}  # fmt: skip
    paths = [path for path, ways in spec["paths"].items() if any("200" in way["responses"] for way in ways.values())]  # fmt: skip
    assert [path for path in paths if path not in seen] == []
