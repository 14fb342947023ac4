"""The server's addresses: the requests of LibreTranslate's clients and the answers they expect."""

import asyncio
import hashlib
import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from headway import __version__
from headway.config import Config, ServerConfig, load
from headway.errors import HeadwayError
from headway.ext.documents.html.html_page import HtmlPage
from headway.ext.pictures.maps import AttentionMaps
from headway.ext.server.app import make_app
from headway.ext.server.clients import Clients
from headway.ext.server.environment import read_variables
from headway.ext.server.glossaries import Glossaries
from headway.ext.server.keys import Keys
from headway.ext.server.models import Models, load_models
from headway.ext.server.page import page_files
from headway.ext.server.rejection import Rejection
from headway.ext.server.requests import read_body
from headway.ext.server.routes import describe
from headway.ext.server.server import Server
from headway.text.languages import is_translatable
from headway.text.tokenizer import Tokenizer
from support.toy_models import sentences, write_random_model

SHORT = {"search.max-extra": "7"}
LIMITS = ServerConfig(char_limit=200, batch_limit=5, alternatives_limit=4, body_limit=20_000)


@pytest.fixture(scope="module")
def models(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Models:
    """English to German, and by a second model German to French."""
    first = write_random_model(tmp_path_factory.mktemp("first"), tokenizer, ("en", "de"), 10)
    second = write_random_model(tmp_path_factory.mktemp("second"), tokenizer, ("de", "fr"), 7)
    found = load_models([first, second], "de", overrides=SHORT)
    assert len(set(found.pairs["en", "de"].translate(sentences(30, 5)))) > 25
    return found


def started(models: Models, limits: ServerConfig = LIMITS, keys: Keys | None = None) -> TestClient:
    return TestClient(make_app(Server(models, limits, keys, workers=2)))


@pytest.fixture(scope="module")
def client(models: Models) -> Iterator[TestClient]:
    with started(models) as found:
        yield found


def expected(models: Models, text: str, pair: tuple[str, str] = ("en", "de")) -> str:
    return models.pairs[pair].translate(text)


def ask(client: TestClient, path: str = "/translate", **fields: Any) -> Any:
    return client.post(path, json={"source": "en", "target": "de", **fields})


ENCODINGS: dict[str, Any] = {
    "JSON": lambda f: {"json": f},
    "a form": lambda f: {"data": f},
    "multipart": lambda f: {"files": {name: (None, value) for name, value in f.items()}},
    "the query string": lambda f: {"params": f},
}


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", ["the cat sees", 'größe & 100 % + 日本 = "x"'])
def test_all_four_encodings_give_the_models_own_translation(
    client: TestClient, models: Models, encoding: str, text: str
) -> None:
    fields = {"q": text, "source": "en", "target": "de"}
    answer = client.post("/translate", **ENCODINGS[encoding](fields))
    assert answer.status_code == 200
    assert answer.json() == {"translatedText": expected(models, text)}
    assert client.post("/detect", **ENCODINGS[encoding]({"q": text})).status_code == 200


def test_a_list_gives_a_list_in_its_order(client: TestClient, models: Models) -> None:
    texts = sentences(5, 77)
    answer = ask(client, q=texts).json()
    assert answer == {"translatedText": [expected(models, text) for text in texts]}
    assert ask(client, q=texts[:1]).json()["translatedText"] == [expected(models, texts[0])]


def test_alternatives_are_the_next_best_and_scores_descend(
    client: TestClient, models: Models
) -> None:
    answer = ask(client, q="the cat sees", alternatives=3, scores=True).json()
    assert list(answer) == ["translatedText", "alternatives", "score", "alternativeScores"]
    assert 0 < len(answer["alternatives"]) <= 3
    assert answer["translatedText"] not in answer["alternatives"]
    assert len(set(answer["alternatives"])) == len(answer["alternatives"])
    scores = [answer["score"], *answer["alternativeScores"]]
    assert scores == sorted(scores, reverse=True)
    several = ask(client, q=["the cat", "a dog"], alternatives=2).json()
    assert [isinstance(some, list) for some in several["alternatives"]] == [True, True]
    assert ask(client, q="the cat sees", alternatives=3, format="html").json()["alternatives"] == []
    assert "alternatives" not in ask(client, q="the cat sees", alternatives=0).json()


@pytest.mark.parametrize("encoding", ["JSON", "a form"])
def test_flags_are_words_or_numbers(client: TestClient, encoding: str) -> None:
    for flag, has_scores in (
        (1, True), ("1", True), ("True", True), ("on", True),
        (0, False), ("0", False), ("no", False), ("", False),
    ):  # fmt: skip
        fields = {"q": "the cat", "source": "en", "target": "de", "scores": flag}
        answer = client.post("/translate", **ENCODINGS[encoding](fields)).json()
        assert ("score" in answer) is has_scores, flag


@pytest.mark.parametrize("form", ["text", "html"])
def test_a_score_is_the_sum_over_sentences(client: TestClient, form: str) -> None:
    parts = ["the cat sees.", "A dog runs!"]
    alone = [ask(client, q=part, scores=True).json()["score"] for part in parts]
    whole = ask(client, q=" ".join(parts), scores=True, format=form).json()
    assert whole["score"] == pytest.approx(sum(alone), abs=3e-6)
    assert all(score < 0 for score in alone)


def test_html_in_another_language_and_code_stay(client: TestClient) -> None:
    page = '<p lang="en">the cat</p><p lang="fr">un homme</p><p>the <code>cat x</code> sees</p>'
    answer = ask(client, q=page, format="html").json()["translatedText"]
    assert '<p lang="fr">un homme</p>' in answer
    assert "the cat</p>" not in answer
    assert answer.count("<code>cat x</code>") == 1


def test_auto_tells_what_it_found(client: TestClient, models: Models) -> None:
    english = "this is a house with a garden and the children are playing"
    answer = ask(client, q=english, source="auto").json()
    assert answer["detectedLanguage"]["language"] == "en"
    assert 50 < answer["detectedLanguage"]["confidence"] <= 100
    assert answer["translatedText"] == expected(models, english)
    several = ask(client, q=[english, english], source="auto").json()
    assert len(several["detectedLanguage"]) == 2
    assert "detectedLanguage" not in ask(client, q=english).json()
    found = client.post("/detect", data={"q": "das ist ein Haus und die Kinder spielen"}).json()
    assert found[0]["language"] == "de"
    assert {one["language"] for one in found} <= {"en", "de", "fr"}
    assert sum(one["confidence"] for one in found) == pytest.approx(100, abs=0.5)


@pytest.mark.parametrize("text", ["🎉 🎉", "  \n ", "...", "\u200b"])
def test_what_has_no_words_comes_back(client: TestClient, text: str) -> None:
    assert ask(client, q=text).json() == {"translatedText": text}
    assert ask(client, q=text, source="auto").json() == {
        "translatedText": text,
        "detectedLanguage": {"confidence": 0.0, "language": "en"},
    }


def test_one_language_comes_back_and_a_pivot_joins_two(client: TestClient, models: Models) -> None:
    assert ask(client, q="the cat", target="en").json() == {"translatedText": "the cat"}
    middles = {text: ask(client, q=text).json()["translatedText"] for text in sentences(9, 5)}
    text, middle = next((t, m) for t, m in middles.items() if is_translatable(m))
    through = ask(client, q=text, target="fr").json()
    assert through == ask(client, q=middle, source="de", target="fr").json()
    assert through["translatedText"] != middle
    languages = {one["code"]: one["targets"] for one in client.get("/languages").json()}
    assert languages == {"en": ["en", "de", "fr"], "de": ["de", "fr"], "fr": ["fr"]}
    no_pivot = Models(list(models.pairs.values()))
    assert no_pivot.targets("en") == ["en", "de"]
    with pytest.raises(
        HeadwayError, match="--pivot xx: no model translates this language; there are en, de, fr"
    ):
        Models(list(models.pairs.values()), "xx")
    with pytest.raises(HeadwayError, match=r"translates en to de, as .* does"):
        Models([models.pairs["en", "de"]] * 2)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"q": ""}, "Invalid request: missing q parameter"),
    ({"q": None}, "Invalid request: missing q parameter"),
    ({"q": []}, "Invalid request: missing q parameter"),
    ({"source": ""}, "Invalid request: missing source parameter"),
    ({"target": None}, "Invalid request: missing target parameter"),
    ({"source": "xx"}, "xx is not supported: source must be one of en, de, fr"),
    ({"target": "xx"}, "xx is not supported: target must be one of en, de, fr"),
    (
        {"target": "xx", "source": "auto"},
        "xx is not supported: target must be one of en, de, fr",
    ),
    (
        {"source": "de", "target": "en"},
        "English (en) is not available as a target language from German (de)",
    ),
    ({"format": "pdf"}, "pdf format is not supported"),
    ({"q": "x" * 201}, "Invalid request: request (201) exceeds text limit (200)"),
    ({"q": ["x"] * 6}, "Invalid request: request (6) exceeds text limit (5)"),
    ({"alternatives": 5}, "Invalid request: alternatives parameter must be <= 4"),
    ({"alternatives": "x"}, "Invalid request: alternatives parameter is not a number"),
    ({"alternatives": [1]}, "Invalid request: alternatives parameter is not a number"),
    ({"q": [1, 2]}, "Invalid request: q parameter is not a string or a list of strings"),
    ({"q": {"a": 1}}, "Invalid request: q parameter is not a string or a list of strings"),
    ({"q": 5}, "Invalid request: q parameter is not a string or a list of strings"),
    ({"source": 5}, "Invalid request: source parameter is not a string"),
    ({"scores": 5}, "Invalid request: scores parameter is not true or false"),
    ({"scores": "maybe"}, "Invalid request: scores parameter is not true or false"),
    ({"scores": [True]}, "Invalid request: scores parameter is not true or false"),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_mistakes_get_400_and_their_reason(
    client: TestClient, fields: dict[str, Any], message: str
) -> None:
    answer = client.post(
        "/translate", json={"q": "the cat", "source": "en", "target": "de", **fields}
    )
    assert (answer.status_code, answer.json()) == (400, {"error": message})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[1]", "Invalid JSON format: send an object with the fields"),
        (b'"x"', "Invalid JSON format: send an object with the fields"),
        (b"[" * 15_000, "Invalid JSON format"),
        (b'{"a":' * 15, "Invalid JSON format"),
        (b'{"q": [' + b"0," * 5_000 + b"0]}", "Invalid JSON format"),
        (b'{"q":\n "a" "b"}', "Invalid JSON format: line 2, column 6: Expecting ',' delimiter"),
        (b"", "Invalid JSON format: line 1, column 1: Expecting value"),
        (b'{"q": NaN}', "Invalid JSON format: it has NaN, Infinity or too long a number"),
        (b'{"q": ' + b"9" * 5_000 + b"}", "Invalid JSON format: it has NaN, Infinity or too long a number"),
        (b"{\xff\xfe", "Invalid JSON format: no UTF-8 at byte 2"),
        (b'{"q": "' + b"9" * 5_000, "Invalid JSON format: line 1, column 7: Unterminated string starting at"),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_json_that_is_none_is_refused(client: TestClient, body: bytes, message: str) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/translate", content=body, headers=headers)
    assert (answer.status_code, answer.json()) == (400, {"error": message})
    answer = client.post("/v2/translate", content=body, headers=headers)
    assert (answer.status_code, answer.json()) == (400, {"message": message})


@pytest.mark.parametrize("end", [b"", b"\\", b'"', b'"}'])
def test_a_string_without_an_end_is_looked_at_once(models: Models, end: bytes) -> None:
    headers = {"content-type": "application/json"}
    body = b'{"q": "' + b'\\"' * 50_000 + end
    with started(models, ServerConfig()) as client:
        began = time.process_time()
        answer = client.post("/translate", content=body, headers=headers)
    assert time.process_time() - began < 1  # quadratic, it is ten seconds
    assert answer.status_code == 400


def test_halves_of_characters_are_replaced_wherever_they_stand(
    client: TestClient, models: Models
) -> None:
    whole = expected(models, "a \N{REPLACEMENT CHARACTER} dog")
    for q, answer in (('"a \\ud800 dog"', whole), ('["a \\ud800 dog"]', [whole])):
        body = f'{{"q": {q}, "source": "en", "target": "de"}}'
        found = client.post(
            "/translate", content=body, headers={"content-type": "application/json"}
        )
        assert found.json() == {"translatedText": answer}


@pytest.mark.parametrize("length", ["46", "46 ", "46\t", "\xb2", "x"])
def test_a_length_may_have_white_space_around_it(length: str) -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * 46}

    headers = [(b"content-length", length.encode("latin-1"))]
    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
    body = read_body(request, ServerConfig().body_limit, ServerConfig().idle_seconds)
    if length.startswith("46"):
        assert asyncio.run(body) == b"x" * 46
    else:
        with pytest.raises(Rejection):
            asyncio.run(body)


@pytest.mark.parametrize(
    ("charset", "status"),
    [
        ("", 200),
        ("; charset=UTF-8", 200),
        ('; charset="utf8"', 200),
        ("; charset=latin1", 200),
        ("; charset=punycode", 400),
        ("; charset=nonsense", 400),
    ],
)
def test_a_form_has_one_of_the_charsets_that_are_read_in_linear_time(
    client: TestClient, models: Models, charset: str, status: int
) -> None:
    parts = {"q": "the cat", "source": "en", "target": "de"}
    body = "".join(
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in parts.items()
    )
    headers = {"content-type": f"multipart/form-data; boundary=x{charset}"}
    answer = client.post("/translate", content=body + "--x--\r\n", headers=headers)
    assert answer.status_code == status
    if status == 400:
        assert answer.json() == {"error": "Invalid request: the charset of a form must be utf-8"}


def test_omegat_asks_by_get(client: TestClient, models: Models) -> None:
    fields = {"q": "the cat & a dog", "source": "en", "target": "de"}
    answer = client.get("/translate", params=fields)
    assert answer.json() == {"translatedText": expected(models, fields["q"])}
    described = client.get("/spec").json()["paths"]["/translate"]["get"]
    assert {"q", "source", "target"} <= {each["name"] for each in described["parameters"]}


def test_line_ends_of_forms_count_once(client: TestClient) -> None:
    text = "the cat\r\n" * 25  # 225 characters as sent, 200 with one for each line end
    assert client.post("/translate", data={"q": text, "source": "en", "target": "de"}).is_success
    assert ask(client, q=text).status_code == 400


def test_addresses_and_methods(client: TestClient) -> None:
    assert client.get("/health").json()["status"] == "ok"
    for method, path, status in [
        ("GET", "/detect", 405), ("GET", "/align", 405), ("GET", "/translate", 400), ("PUT", "/translate", 405), ("POST", "/languages", 405),
        ("GET", "/nothing", 404), ("POST", "/translate_file", 400), ("GET", "/download_file/x", 404), ("POST", "/suggest", 403),
        ("OPTIONS", "/translate", 200),
    ]:  # fmt: skip
        answer = client.request(method, path)
        assert answer.status_code == status, path
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["access-control-allow-methods"] == "GET, POST"
        assert answer.headers["access-control-max-age"] == "1728000"
        assert answer.headers["access-control-expose-headers"] == "Retry-After"
        if status != 200:
            assert list(answer.json()) == ["error"]
    for path, methods in [
        ("/translate", "GET, HEAD, POST"), ("/languages", "GET, HEAD"), ("/v2/glossaries", "GET, HEAD, POST"),
        ("/v2/glossaries/x", "DELETE"),
    ]:  # fmt: skip
        answer = client.put(path)
        assert (answer.status_code, answer.headers["allow"]) == (405, methods)
    # A client of LibreTranslate sends a body with GET.
    answer = client.request("GET", "/languages", content=b"api_key=x")
    assert answer.json()[0] == {"code": "en", "name": "English", "targets": ["en", "de", "fr"]}
    settings = client.get("/frontend/settings").json()
    assert settings["charLimit"] == 200
    assert settings["keyRequired"] is False
    assert settings["language"]["target"] == {"code": "de", "name": "German"}
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("method", ["OPTIONS", "GET", "POST", "DELETE"])
@pytest.mark.parametrize("path", ["/v2/glossaries", "/v2/glossaries/x", "/v2/nothing"])
def test_pages_of_other_sites_get_nothing_of_deepls_addresses(
    client: TestClient, method: str, path: str
) -> None:
    answer = client.request(method, path, headers={"Origin": "https://other.example"})
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert answer.headers["x-content-type-options"] == "nosniff"


OTHER, NAME = "https://other.example", "translate.example:8080"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": OTHER}, 403),
        ({"Origin": OTHER, "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": f"http://sub.{NAME}", "Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "null"}, 403),  # a frame without an origin
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": f"http://{NAME}"}, 200),
        ({"Origin": f"http://{NAME}", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": "https://proxy.example", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": "chrome-extension://abc", "Sec-Fetch-Site": "cross-site"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({}, 200),
    ],
)
def test_pages_of_other_sites_cannot_use_deepls_addresses(
    models: Models, headers: dict[str, str], status: int
) -> None:
    fields = {"text": "a dog", "source_lang": "en", "target_lang": "de"}
    with started(models) as client:
        answer = client.post("/v2/translate", data=fields, headers={"Host": NAME, **headers})
        assert answer.status_code == status
        text = {"q": "the cat", "source": "en", "target": "de"}
        assert client.post("/translate", data=text, headers=headers).is_success


@pytest.mark.parametrize(
    ("address", "host", "settings", "status"),
    [
        ("127.0.0.1", "other.example:5000", {}, 403),
        ("::1", "127.0.0.1.other.example", {}, 403),
        ("127.0.0.1", "localhost:5000", {}, 200),
        ("127.0.0.1", "127.0.0.1", {}, 200),
        ("::1", "[::1]:5000", {}, 200),
        ("0.0.0.0", "translate.example", {}, 200),
        ("127.0.0.1", "translate.example", {"trusted_proxies": "127.0.0.1"}, 200),
    ],
)
def test_a_server_of_this_machine_alone_has_no_foreign_name(
    models: Models, address: str, host: str, settings: dict[str, str], status: int
) -> None:
    app = make_app(Server(models, ServerConfig(**settings)))  # type: ignore[arg-type]
    base = f"http://[{address}]" if ":" in address else f"http://{address}"
    with TestClient(app, base_url=base) as client:
        answer = client.get("/v2/glossaries", headers={"Host": host})
        assert answer.status_code == status
        assert client.get("/languages", headers={"Host": host}).status_code == 200


def test_a_server_with_keys_may_have_any_name(models: Models, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("right\n")
    app = make_app(Server(models, keys=Keys(tmp_path / "keys")))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        headers = {"Host": "other.example", "Authorization": "Bearer right"}
        assert client.get("/v2/glossaries", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("a name", "another", False),
    ],
)
def test_a_client_has_a_network_of_ipv6(first: str, second: str, is_same: bool) -> None:
    scopes = [{"type": "http", "headers": [], "client": (host, 1)} for host in (first, second)]
    names = {Clients(None).identify(Request(scope), {}) for scope in scopes}
    assert len(names) == (1 if is_same else 2)


def test_the_specification_is_made_once_for_the_same_models(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def counted(server: Server) -> dict[str, Any]:
        made.append(server.models)
        return describe(server)

    monkeypatch.setattr("headway.ext.server.routes.describe", counted)
    server = Server(models, LIMITS)
    with TestClient(make_app(server)) as client:
        first = client.get("/spec")
        assert first.headers["content-type"] == "application/json"
        assert client.get("/spec").content == first.content
        server.models = Models([models.pairs["en", "de"]])
        assert b'"fr"' in first.content
        assert b'"fr"' not in client.get("/spec").content
    assert made == [models, server.models]


def test_a_page_of_many_blocks_is_one_text_of_the_queue(models: Models) -> None:
    server = Server(models, LIMITS)
    server.queue.idle_workers = 0
    page = "<p>the cat</p>" * 12

    async def run() -> None:
        route = [models.pairs["en", "de"]]
        found = asyncio.ensure_future(server.context.translator.translate_pages(route, [page] * 2))
        while not server.queue.waiting.groups:
            await asyncio.sleep(0.001)
        assert (server.queue.texts, len(server.queue.waiting.groups[0].waiting)) == (2, 24)
        found.cancel()
        await asyncio.gather(found, return_exceptions=True)
        assert (server.queue.texts, server.queue.waiting.tokens) == (0, 0)

    asyncio.run(run())


def test_long_markup_is_read_in_a_thread(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()

    def recorded(*arguments: Any, **others: Any) -> HtmlPage:
        threads.add(threading.current_thread().name.partition("_")[0])
        return HtmlPage(*arguments, **others)

    monkeypatch.setattr("headway.ext.server.translation.HtmlPage", recorded)
    with started(models, replace(LIMITS, batch_limit=11)) as client:
        assert ask(client, q=["<p>1</p>".ljust(190)] * 11, format="html").is_success
    assert threads == {"text"}


def test_the_specification_names_every_address_and_its_languages(client: TestClient) -> None:
    spec = client.get("/spec").json()
    schemas = spec["components"]["schemas"]
    fields = schemas["TranslateRequest"]["properties"]
    assert fields["source"]["enum"] == ["auto", "en", "de", "fr"]
    assert fields["target"]["enum"] == ["en", "de", "fr"]
    text, texts = fields["q"]["oneOf"]
    assert (text["maxLength"], texts["maxItems"], texts["items"]["maxLength"]) == (200, 5, 200)
    assert fields["alternatives"]["maximum"] == 4
    assert schemas["TranslateRequest"]["required"] == ["q", "source", "target"]
    assert schemas["TranslateFormRequest"]["properties"]["q"]["type"] == "string"
    assert schemas["Translation"]["required"] == ["translatedText"]
    served = {route.path for route in client.app.app.routes}  # type: ignore[attr-defined]
    served -= {"/v2/glossaries/{glossary_id}"}  # which only says that it does nothing
    assert set(spec["paths"]) == served - {"/" + path.lstrip("/") for path in page_files()}
    for path, methods in spec["paths"].items():
        for method in methods:
            answer = client.request(method, path)
            assert answer.status_code not in (404, 405) or "There is no such file" in answer.text
    for reference in set(json_references(spec)):
        found = spec
        for name in reference.removeprefix("#/").split("/"):
            found = found[name]


def test_the_specification_says_where_a_key_and_a_field_go(models: Models, tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("right\n")
    server = Server(models, LIMITS, Keys(file))
    spec = describe(server)
    client = TestClient(make_app(server))
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            answer = client.request(method, path)
            needs_key = "key" in answer.text.lower() and answer.status_code in (400, 403)
            assert ("security" in operation) is needs_key, (method, path)
            schemes = [name for each in operation.get("security", ()) for name in each]
            assert {*schemes} <= spec["components"]["securitySchemes"].keys()
    parameters = spec["paths"]["/translate"]["get"]["parameters"]
    assert [each["name"] for each in parameters if each["required"]] == ["q", "source", "target"]
    assert "api_key" in [each["name"] for each in parameters]
    assert spec["components"]["schemas"]["TranslateRequest"]["required"] == [
        "q",
        "source",
        "target",
    ]
    assert "security" not in str(describe(Server(models))["paths"])


def json_references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for inner in value.values():
            yield from json_references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from json_references(inner)


def test_paragraphs_keep_their_white_space(client: TestClient, models: Models) -> None:
    text = "  the cat sees. A dog runs!\n\n\t the tree\r\n"
    first, second, third = (
        expected(models, part) for part in ("the cat sees.", "A dog runs!", "the tree")
    )
    assert ask(client, q=text).json()["translatedText"] == f"  {first} {second}\n\n\t {third}\r\n"


def test_alignment_names_the_words_of_both_texts(client: TestClient, models: Models) -> None:
    text = " the cat sees.\na green dog"
    answer = ask(client, "/align", q=text).json()
    assert answer["translatedText"] == ask(client, q=text).json()["translatedText"]
    for words, whole in (("sourceWords", text), ("targetWords", answer["translatedText"])):
        assert [word["text"] for word in answer[words]] == whole.split()
        assert all(whole[w["start"] : w["end"]] == w["text"] for w in answer[words])
    [first] = models.pairs["en", "de"].stream(["the cat sees."], align=True)
    words = len(first[0].text.split())
    assert first[0].alignment
    assert [tuple(p) for p in answer["alignment"] if p[1] < words] == first[0].alignment
    assert all(pair[0] >= 3 for pair in answer["alignment"] if pair[1] >= words)
    through = ask(client, "/align", q=text, target="fr").json()
    assert len(through["targetWords"]) == len(through["translatedText"].split())
    assert all(s < 6 and t < len(through["targetWords"]) for s, t in through["alignment"])
    assert through["alignment"]


def test_attention_is_what_the_pictures_are_made_of(client: TestClient) -> None:
    answer = ask(client, "/attention", q="the cat sees").json()
    maps = AttentionMaps.from_json(answer)
    assert maps.source == "the cat sees"
    assert maps.target == ask(client, q="the cat sees").json()["translatedText"]
    assert set(maps.maps) == {"encoder", "decoder", "cross"}
    given = ask(client, "/attention", q="the cat sees", translation="die Katze").json()
    assert given["target"] == "die Katze"
    for fields in ({"q": "!"}, {"q": "a", "target": "fr"}, {"q": "a", "translation": 5}):
        answer = ask(client, "/attention", **fields)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("Invalid request: ")


@pytest.mark.slow
def test_a_stream_is_the_greedy_translation_bit_by_bit(client: TestClient, models: Models) -> None:
    text = "the cat sees. A dog runs\n\nunder"
    answer = ask(client, "/stream", q=text)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [
        (block.split("\n")[0], json.loads(block.split("\n")[1].removeprefix("data: ")))
        for block in answer.text.strip().split("\n\n")
    ]
    assert [name for name, _ in events] == ["event: token"] * (len(events) - 1) + ["event: done"]
    whole = "".join(values["text"] for _, values in events[:-1])
    assert whole == events[-1][1]["translatedText"]
    greedy = load_models(
        [str(models.pairs["en", "de"].token_search.directory)],
        overrides={**SHORT, "search.beam": "1"},
    )
    one, two, three = (
        greedy.pairs["en", "de"].translate(part)
        for part in ("the cat sees.", "A dog runs", "under")
    )
    assert whole == f"{one} {two}\n\n{three}"
    assert len(events) > 5
    assert ask(client, "/stream", q="").status_code == 400


def test_keys(models: Models, tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("# ours\n\nfirst-key\nzweiter-Schlüssel\n", encoding="utf-8")
    with started(models, keys=Keys(file)) as client:
        for key, status, message in [
            (None, 400, "Please contact the server operator to get an API key"),
            ("", 400, "Please contact the server operator to get an API key"),
            ("first-ke", 403, "Invalid API key"),
            ("# ours", 403, "Invalid API key"),
        ]:
            answer = ask(client, q="the cat", api_key=key)
            assert (answer.status_code, answer.json()) == (status, {"error": message})
        for key in ("first-key", "zweiter-Schlüssel"):
            assert ask(client, q="the cat", api_key=key).is_success
            form = urlencode({"q": "a", "api_key": key})
            assert client.post(f"/detect?{form}").is_success
        assert client.get("/frontend/settings").json()["keyRequired"] is True
    file.write_text("# none\n", encoding="utf-8")
    with pytest.raises(HeadwayError, match="holds no key; write one a line"):
        Keys(file)


@pytest.mark.slow
def test_health_names_models_their_weights_and_the_queue(model_directory: Path) -> None:
    models = load_models([model_directory])
    [(source, target)] = models.pairs
    with started(models, ServerConfig(queue_texts=7)) as client:
        health = client.get("/health").json()
        assert health["api"] == client.get("/spec").json()["info"]["version"]
    weights = (model_directory / "model.safetensors").read_bytes()
    assert health["models"] == [
        {"source": source, "target": target, "version": hashlib.sha256(weights).hexdigest()[:12]}
    ]
    assert (health["status"], health["version"]) == ("ok", __version__)
    assert health["queue"] == {"texts": 0, "textsLimit": 7, "tokens": 0, "tokensLimit": 50_000}


def test_a_key_may_come_as_a_bearer_token(models: Models, tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("first-key\nzweiter-Schlüssel\n", encoding="utf-8")
    second = "Bearer zweiter-Schlüssel"
    with started(models, keys=Keys(file)) as client:
        for header, status in [
            ("Bearer first-key", 200), ("bearer  first-key", 200), ("Bearer other", 403),
            ("Basic first-key", 400), ("Bearer", 400), ("Bearer \xff", 403),
            (second.encode(), 200), (second.encode("latin-1"), 200),
        ]:  # fmt: skip
            given = header if isinstance(header, bytes) else header.encode("latin-1")
            fields = {"q": "the cat", "source": "en", "target": "de"}
            answer = client.post("/translate", json=fields, headers=[(b"authorization", given)])
            assert answer.status_code == status, header
        client.headers["Authorization"] = "Bearer other"
        assert ask(client, q="the cat", api_key="first-key").is_success  # the field counts first


@pytest.mark.slow
def test_an_address_that_tries_keys_has_to_wait(
    models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("headway.ext.server.rate_limit.monotonic", lambda: now[0])
    file = tmp_path / "keys"
    file.write_text("right\n")
    with started(models, keys=Keys(file)) as client:
        for _ in range(30):
            assert ask(client, q="a", api_key="right").is_success
        statuses = [ask(client, q="a", api_key=f"guess {n}").status_code for n in range(12)]
        assert statuses == [403] * 10 + [429] * 2
        refused = ask(client, q="a", api_key="right")  # it might be a guess, too
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "6")
        now[0] += 6
        assert ask(client, q="a", api_key="right").is_success


def test_rates_count_texts_and_refill(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("headway.ext.server.rate_limit.monotonic", lambda: now[0])
    with started(models, ServerConfig(req_limit=10)) as client:
        assert ask(client, q=["a"] * 7).is_success
        refused = ask(client, q=["a"] * 4)
        assert refused.status_code == 429
        assert refused.json() == {"error": "Slowdown: 10 per 1 minute"}
        assert refused.headers["retry-after"] == "6"
        assert [ask(client, q="a").status_code for _ in range(4)] == [200, 200, 200, 429]
        now[0] += 6
        assert [ask(client, q="a").status_code for _ in range(2)] == [200, 429]
        now[0] += 600  # minutes in which nothing is asked for are not saved up
        assert [ask(client, q="a").status_code for _ in range(12)] == [200] * 10 + [429] * 2


def test_metrics_count_what_happened_and_ask_for_their_token(models: Models) -> None:
    with started(models, ServerConfig(metrics_token="Schlüssel")) as client:
        ask(client, q="the secret cat. A dog")
        ask(client, q="")
        client.get("/some/secret/path")
        client.get("/download_file/secret.txt")
        client.delete("/v2/glossaries/secret")
        assert client.get("/metrics").status_code == 401
        given = [(b"authorization", "Bearer Schlüssel".encode())]
        text = client.get("/metrics", headers=given).text
    assert 'headway_requests_total{endpoint="/translate",status="200"} 1.0\n' in text
    assert 'headway_requests_total{endpoint="/translate",status="400"} 1.0\n' in text
    assert 'headway_requests_total{endpoint="/download_file/{name}",status="40' in text
    assert 'headway_requests_total{endpoint="/v2/glossaries/{glossary_id}",status="40' in text
    assert 'headway_requests_total{endpoint="other",status="404"} 1.0\n' in text
    assert "headway_segments_total 2.0\n" in text
    assert "headway_queue_tokens 0.0\n" in text
    assert "secret" not in text


def test_settings_come_from_file_environment_and_line_and_mistakes_together(
    tmp_path: Path,
) -> None:
    file = tmp_path / "server.toml"
    file.write_text(
        "[server]\nchar_limit = 5\nbatch_limit = 6\nwait_ms = 1\nsplit_sentences = false\n"
    )

    def load_server(option: str, text: str, environment: dict[str, str]) -> ServerConfig:
        variables = read_variables(environment)
        given = {f"server.{option}": text}
        found = load(files=[file], overrides=given, sections=["server"], variables=variables)
        return found.server

    found = load_server("char-limit", "9", {"LT_BATCH_LIMIT": "8", "HEADWAY_WAIT_MS": "2"})
    assert (found.char_limit, found.batch_limit, found.wait_ms) == (9, 8, 2.0)
    assert found.split_sentences is False
    file.write_text("[server]\nchar_limits = 5\nbody_limit = 'x'\n[other]\n")
    with pytest.raises(HeadwayError) as caught:
        load_server("deadline", "soon", {"HEADWAY_BATCH_LIMIT": "many"})
    lines = str(caught.value).splitlines()
    assert len(lines) == 5
    assert "char_limits is not a setting (did you mean 'char_limit'?)" in str(caught.value)
    assert "--server.deadline must be a finite number, not 'soon'" in lines
    assert "HEADWAY_BATCH_LIMIT must be a whole number, not 'many'" in lines
    file.write_text("")
    for option, text, problem in [
        ("char-limit", "0", "--server.char-limit 0 must be more than 0"),
        ("deadline", "inf", "--server.deadline must be a finite number, not 'inf'"),
        ("deadline", "nan", "--server.deadline must be a finite number, not 'nan'"),
        ("queue-tokens", "5", "server.batch_tokens = 2000 is more than queue_tokens = 5"),
        (
            "trusted-proxies",
            "::1,localhost",
            r"server.trusted_proxies: 'localhost' must be an addr",
        ),
        (
            "trusted-proxies",
            "10.0.0.5/8",
            r"server.trusted_proxies: '10.0.0.5/8' must be .*, or the first",
        ),
        ("trusted-proxies", "*,::1", r"server.trusted_proxies: '\*' must be an address"),
    ]:
        with pytest.raises(HeadwayError, match=problem):
            load_server(option, text, {})
    for proxies in ("*", "127.0.0.1, ::1", "10.0.0.0/8"):
        assert load_server("trusted-proxies", proxies, {}).trusted_proxies == proxies
    assert "server" not in Config().to_dict()  # a run's config.json has no server in it


def test_a_request_brings_a_glossary_or_names_one(models: Models, tmp_path: Path) -> None:
    (tmp_path / "animals.tsv").write_text("cat\tKater\n", encoding="utf-8")
    (tmp_path / "other.tbx").write_text(
        "<martif><text><body><termEntry><langSet xml:lang='fr'><tig><term>a</term></tig></langSet>"
        "<langSet xml:lang='de'><tig><term>b</term></tig></langSet></termEntry></body></text></martif>",
        encoding="utf-8",
    )
    named = f"animals = {tmp_path}/animals.tsv, other={tmp_path}/other.tbx"
    with started(models, replace(LIMITS, glossaries=named)) as client:
        text = {"q": "the cat sees {name}", "source": "en", "target": "de"}
        for glossary in ("animals", "# mine\ncat\tKater\tcase"):
            for form in ("text", "html"):
                answer = ask(client, glossary=glossary, format=form, **text).json()
                assert "Kater" in answer["translatedText"]
                assert answer["translatedText"].count("{name}") == 1
        for glossary, message in (
            ("none", "none is not a glossary"),
            ("other", "the glossary other has no terms from en to de"),
            ("cat\t", "glossary:1: 'cat' has no target"),
            ("ca.\tKater\tregex", "the flag regex is only for glossaries of the server"),
            ("a(\tKater\tregex", "the flag regex is only for"),  # and it is not compiled
        ):
            answer = client.post("/translate", json={"glossary": glossary, **text})
            assert answer.status_code == 400
            assert message in answer.json()["error"]
    (tmp_path / "animals.tsv").write_text("cat\n", encoding="utf-8")
    with pytest.raises(HeadwayError, match=r"animals\.tsv:1: 'cat' has no target"):
        started(models, replace(LIMITS, glossaries=named))
    for wrong in ("animals", "=a.tsv", "animals=", " = "):
        with pytest.raises(HeadwayError, match="must be NAME=FILE"):
            started(models, replace(LIMITS, glossaries=wrong))


def test_a_glossary_of_many_commas_is_read_in_no_time() -> None:
    started_at = time.monotonic()
    with pytest.raises(Rejection, match="has no target") as caught:
        Glossaries({}).find("," * 50_000 + "\t", ("en", "de"))
    assert time.monotonic() - started_at < 2
    assert len(str(caught.value)) < 300  # a message has the beginning of a long term


def test_the_page_on_glossaries_names_the_addresses_that_take_one(client: TestClient) -> None:
    page = (Path(__file__).parents[3] / "docs" / "glossary.md").read_text(encoding="utf-8")
    [sentence] = [line for line in page.splitlines() if "takes a field `glossary`" in line]
    spec = client.get("/spec").json()
    taking = set()
    for path, methods in spec["paths"].items():
        for media in methods.get("post", {}).get("requestBody", {}).get("content", {}).values():
            schema = spec["components"]["schemas"][media["schema"]["$ref"].rpartition("/")[2]]
            if "glossary" in schema["properties"]:
                taking.add(path)
    named = [name.removeprefix("POST ") for name in sentence.split("`")[1::2]]
    assert {name for name in named if name.startswith("/")} == taking


def test_a_glossary_has_a_limit_of_its_own(models: Models) -> None:
    rows = "\n".join(f"word{number}\tWort" for number in range(50))
    limit = LIMITS.char_limit + len(rows)
    fields = {"q": "the cat", "source": "en", "target": "de"}
    with started(models, replace(LIMITS, glossary_limit=limit)) as client:
        for path in ("/translate", "/align"):
            assert ask(client, path, glossary=f"{rows}\ncat\tKater", **fields).is_success
        answer = ask(client, glossary=rows + "x" * limit, **fields)
        message = f"glossary parameter ({len(rows) + limit}) exceeds its limit ({limit})"
        assert (answer.status_code, answer.json()) == (
            400,
            {"error": f"Invalid request: {message}"},
        )
        schemas = client.get("/spec").json()["components"]["schemas"]
        assert schemas["AlignRequest"]["properties"]["glossary"]["maxLength"] == limit


def test_a_table_is_for_the_pair_after_it_and_each_pair_has_one_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("headway.ext.server"), "propagate", True)
    for name, row in (("there", "cat\tKatze"), ("back", "Katze\tcat")):
        (tmp_path / f"{name}.tsv").write_text(row, encoding="utf-8")
    there, back = f"{tmp_path}/there.tsv", f"{tmp_path}/back.tsv"
    pairs = [("en", "de"), ("de", "en"), ("en", "pt-BR")]

    def sources(setting: str) -> list[str]:
        """Return the term of the glossary x for each pair, or nothing."""
        found = Glossaries.load(setting, pairs)
        terms = [""] * len(pairs)
        for number, pair in enumerate(pairs):
            with suppress(Rejection):
                terms[number] = found.find("x", pair).terms[0].source
        return terms

    assert sources(f"x={there}") == ["cat", "cat", "cat"]
    assert sources(f" x = {there}@en-pt-BR ") == ["", "", "cat"]
    assert sources(f"x={there}@en-de,x={back}@de-en") == ["cat", "Katze", ""]
    assert not caplog.messages
    assert sources(f"x={there}@en-fr") == ["", "", ""]
    assert caplog.messages == [f"x={there}@en-fr: the glossary is for no languages of the models"]
    for twice in (f"x={there},x={back}", f"x={there},x={back}@de-en"):
        with pytest.raises(HeadwayError, match="another file of this name is for"):
            sources(twice)
