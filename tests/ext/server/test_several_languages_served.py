"""A server lists the pairs of languages that a model was trained on, and picks one for each request."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from headway.config import ServerConfig
from headway.errors import HeadwayError
from headway.ext.server.app import make_app
from headway.ext.server.models import Models, load_models
from headway.ext.server.server import Server
from headway.text.tokenizer import Tokenizer
from support.toy_models import PAIRS, write_random_model, write_several

SHORT = {"search.max-extra": "7"}


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_several(tmp_path_factory.mktemp("several"))


@pytest.fixture(scope="module")
def models(several: Path, tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Models:
    other = write_random_model(tmp_path_factory.mktemp("other"), tokenizer, ("fr", "en"), 7)
    return load_models([several, other], overrides=SHORT)


@pytest.fixture(scope="module")
def client(models: Models) -> Iterator[TestClient]:
    with TestClient(make_app(Server(models, ServerConfig(), None, workers=2))) as found:
        yield found


def test_languages_are_the_trained_pairs(client: TestClient, models: Models) -> None:
    listed = {each["code"]: set(each["targets"]) for each in client.get("/languages").json()}
    assert listed == {"en": {"en", "de", "fr"}, "de": {"de", "en"}, "fr": {"fr", "en"}}
    served = client.get("/health").json()["models"]
    assert {(each["source"], each["target"]) for each in served} == {*PAIRS, ("fr", "en")}
    assert len({each["version"] for each in served}) == 2
    assert models.pairs["en", "de"].model is models.pairs["de", "en"].model


@pytest.mark.parametrize(("source", "target"), [*PAIRS, ("fr", "en")])
@pytest.mark.parametrize("text", ["the cat", ">>fr<< the cat"])
def test_a_request_gets_its_direction(
    source: str, target: str, text: str, client: TestClient, models: Models
) -> None:
    body = {"q": text, "source": source, "target": target}
    answer = client.post("/translate", json=body)
    assert answer.json() == {"translatedText": models.pairs[source, target].translate(text)}
    aligned = client.post("/align", json=body).json()
    assert aligned["translatedText"] == answer.json()["translatedText"]
    assert all(word["text"] in text for word in aligned["sourceWords"])


def test_directions_differ(client: TestClient) -> None:
    found = {
        client.post("/translate", json={"q": "the cat sees", "source": "en", "target": to}).text
        for to in ("de", "fr")
    }
    assert len(found) == 2


def test_a_pair_that_was_not_trained_is_rejected(client: TestClient) -> None:
    answer = client.post("/translate", json={"q": "Hund", "source": "de", "target": "fr"})
    assert answer.status_code == 400
    assert "(fr) is not available as a target language from German (de)" in answer.json()["error"]


def test_two_models_of_one_pair_are_an_error(several: Path) -> None:
    with pytest.raises(HeadwayError, match="give one model for each direction"):
        load_models([several, several], overrides=SHORT)
