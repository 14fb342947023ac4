"""Rows of LibreTranslate's interface that a differential run found; each is what 1.9.6 answers."""

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headway.config import UNLIMITED, ServerConfig, load
from headway.errors import HeadwayError
from headway.ext.server.app import make_app
from headway.ext.server.environment import parse_whole_number, read_variables, unused_variables
from headway.ext.server.languages import normalize_code
from headway.ext.server.models import load_models
from headway.ext.server.server import Server
from headway.text.tokenizer import Tokenizer
from support.toy_models import write_random_model

LIMITS = ServerConfig(char_limit=200, batch_limit=2, alternatives_limit=4)
FRENCH = "une femme regarde la mer et les enfants jouent dans le jardin avec leur chien"


@pytest.fixture(scope="module")
def client(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """English to German, and German to French: nothing leads on from French."""
    folders = [tmp_path_factory.mktemp("model") for _ in range(2)]
    pairs = [("en", "de"), ("de", "fr")]
    for folder, pair in zip(folders, pairs, strict=True):
        write_random_model(folder, tokenizer, pair)
    models = load_models(folders, overrides={"search.max-extra": "5"})
    with TestClient(make_app(Server(models, LIMITS))) as found:
        yield found


def ask(client: TestClient, **fields: Any) -> Any:
    return client.post("/translate", json={"q": "the cat", "source": "en", "target": "de"} | fields)


def test_codes_are_known_in_any_case_and_by_their_other_names(client: TestClient) -> None:
    assert ask(client, source="EN", target="De").json() == ask(client).json()
    assert ask(client, source="AUTO", q="🎉").json()["detectedLanguage"]["language"] == "en"
    assert {normalize_code("zh"), normalize_code("ZH-Hans")} == {"zh"}
    assert normalize_code("pt-BR") == normalize_code("pb") != normalize_code("pt")
    assert normalize_code("zt") == normalize_code("zh-Hant") != normalize_code("zh")


def test_a_language_without_a_way_is_not_read_as_another(client: TestClient) -> None:
    answer = ask(client, q=FRENCH, source="auto", target="de")
    message = "German (de) is not available as a target language from French (fr)"
    assert (answer.status_code, answer.json()) == (400, {"error": message})


@pytest.mark.parametrize(
    ("value", "status"),
    [(True, 200), (False, 200), (2.7, 200), ("2", 200), (" 2 ", 200), (-(10**30), 200),
     ("", 400), ("2.5", 400), ("9" * 5_000, 400), (10**30, 400), (1e300, 400), ({}, 400)],
    ids=lambda value: repr(value)[:20],
)  # fmt: skip
def test_alternatives_are_whatever_is_a_number(
    client: TestClient, value: object, status: int
) -> None:
    answer = ask(client, alternatives=value)
    assert answer.status_code == status
    if status == 200:
        assert ("alternatives" in answer.json()) == (float(value) >= 1)  # type: ignore[arg-type]


def test_an_empty_number_of_a_form_is_none(client: TestClient) -> None:
    fields = {"q": "the cat", "source": "en", "target": "de", "alternatives": ""}
    answer = client.post("/translate", data=fields)
    message = "Invalid request: alternatives parameter is not a number"
    assert (answer.status_code, answer.json()) == (400, {"error": message})


def test_languages_are_found_in_texts_of_any_length(client: TestClient) -> None:
    texts = [FRENCH * 9] * 5
    for found in (
        client.post("/detect", json={"q": texts}),
        client.post("/detect", data={"q": texts[0]}),
    ):
        assert found.json()[0]["language"] == "fr"
    assert ask(client, q=texts[0]).status_code == 400
    schemas = client.get("/spec").json()["components"]["schemas"]
    kinds = schemas["DetectRequest"]["properties"]["q"]["oneOf"]
    assert [kind["type"] for kind in kinds] == ["string", "array"]
    assert "maxLength" not in str(kinds)


def test_the_address_wins_over_a_form(client: TestClient) -> None:
    here, there = {"q": "the dog", "target": "de"}, {"q": "the cat", "source": "en", "target": "xx"}
    answer = client.post("/translate", params=here, data=there)
    assert answer.json() == ask(client, q="the dog").json()


def test_json_may_begin_with_a_byte_order_mark(client: TestClient) -> None:
    body = codecs.BOM_UTF8 + json.dumps({"q": "the cat", "source": "en", "target": "de"}).encode()
    answer = client.post("/translate", content=body, headers={"content-type": "application/json"})
    assert answer.json() == ask(client).json()


def test_keys_that_are_not_text_are_wrong(tmp_path: Path) -> None:
    from headway.ext.server.keys import Keys
    from headway.ext.server.rejection import Rejection

    file = tmp_path / "keys"
    file.write_text("5\nTrue\n")
    for key in (5, True, ["5"], {"5": 5}):
        with pytest.raises(Rejection, match="Invalid API key"):
            Keys(file).check(key)
    for nothing in (None, "", 0, False, []):
        with pytest.raises(Rejection, match="get an API key"):
            Keys(file).check(nothing)


def load_server(environment: dict[str, str]) -> ServerConfig:
    return load(variables=read_variables(environment)).server


def test_libretranslates_variables_set_the_same_limits() -> None:
    given = {
        "LT_CHAR_LIMIT": "77", "LT_BATCH_LIMIT": "-1", "LT_ALTERNATIVES_LIMIT": "-1",
        "LT_REQ_LIMIT": "-1", "LT_METRICS_AUTH_TOKEN": "token", "HEADWAY_REQ_LIMIT": "5",
    }  # fmt: skip
    found = load_server(given)
    assert found == ServerConfig(
        char_limit=77, batch_limit=UNLIMITED, req_limit=5, metrics_token="token"
    )
    unlimited = {"LT_CHAR_LIMIT": "-1", "LT_REQ_LIMIT": "-1"}
    assert load_server(unlimited).char_limit == UNLIMITED
    with pytest.raises(HeadwayError, match=r"LT_CHAR_LIMIT must be a whole number, not 'many'"):
        load_server({"LT_CHAR_LIMIT": "many"})


def test_variables_without_a_counterpart_are_named() -> None:
    given = {
        "LT_CHAR_LIMIT": "5", "LT_HOST": "::1", "LT_METRICS": "true", "LT_SSL": "true", "LT_CHARLIMIT": "5",
        "LT_SUGGESTIONS": "false", "LT_DAILY_REQ_LIMIT": "-1", "LT_URL_PREFIX": "", "LTX": "1",
    }  # fmt: skip
    assert unused_variables(given) == ["LT_CHARLIMIT", "LT_SSL"]


@pytest.mark.parametrize("text", ["", "x", "-1", "65536", "1.5"])
def test_a_wrong_port_is_named_with_its_variable(text: str) -> None:
    assert parse_whole_number("LT_PORT", "65535", 65535) == 65535
    with pytest.raises(
        HeadwayError, match=rf"LT_PORT {text}: must be a whole number from 0 to 65535"
    ):
        parse_whole_number("LT_PORT", text, 65535)
