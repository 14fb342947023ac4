"""The server gives the texts of the library and the command, for requests of all kinds."""

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from headway.errors import UsageError
from headway.ext.server.app import App
from headway.ext.server.models import load_models
from headway.ext.server.server import Server
from headway.translation import Translator
from support.same_texts import ask, make_cases, plain_search, translate
from support.toy_models import sentences, write_random_model

MODEL = Path(__file__).parents[2] / "golden" / "0.2" / "model"


@pytest.mark.slow
def test_the_server_gives_the_texts_of_the_library():
    models = load_models([MODEL], overrides={"search.max-extra": "4"})
    translator = models.pairs["en", "de"]
    search = plain_search(translator)
    with TestClient(App(Server(models))) as client:
        for case in make_cases(20, seed=4):
            assert ask(client, case) == translate(translator, case, search), case


@pytest.mark.slow
def test_the_server_chooses_by_a_backward_model_and_by_risk(tokenizer, tmp_path):
    forward = write_random_model(tmp_path / "forward", tokenizer)
    backward = write_random_model(tmp_path / "backward", tokenizer, ("de", "en"), seed=5)
    own = Translator.load(forward, backward=backward)
    short = {"search.max-extra": "5", "search.candidates": "5"}
    texts = sentences(8, 3)
    plain = replace(own.default_search, max_extra=5, candidates=5)
    expected = own.translate(texts, plain)
    models = load_models([forward], overrides=short, backward=backward)
    risk = load_models([forward], overrides={**short, "search.mbr": "true"})
    own.backward = None
    for served, wanted in (
        (models, expected),
        (risk, own.translate(texts, replace(plain, mbr=True))),
    ):
        assert wanted != own.translate(texts, plain)
        with TestClient(App(Server(served))) as client:
            fields = {"q": texts, "source": "en", "target": "de"}
            assert client.post("/translate", json=fields).json()["translatedText"] == wanted
    with pytest.raises(UsageError, match="no model translates the other way round"):
        load_models([forward], backward=forward)
