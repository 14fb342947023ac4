"""A server lists the pairs of languages that a model was trained on, and picks one for each request."""

import pytest

from headway.errors import HeadwayError
from headway.ext.server.models import load_models
from support.server import ask, client_of
from support.toy_models import PAIRS, write_random_model, write_several


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    return write_several(tmp_path_factory.mktemp("several"))


@pytest.fixture(scope="module")
def several_models(several, tokenizer, tmp_path_factory):
    other = write_random_model(tmp_path_factory.mktemp("other"), tokenizer, ("fr", "en"), 7)
    return load_models([several, other], overrides={"search.max-extra": "7"})


@pytest.fixture(scope="module")
def client(several_models):
    with client_of(several_models, workers=2) as found:
        yield found


def test_languages_are_the_trained_pairs(client, several_models):
    listed = {each["code"]: set(each["targets"]) for each in client.get("/languages").json()}
    assert listed == {"en": {"en", "de", "fr"}, "de": {"de", "en"}, "fr": {"fr", "en"}}
    served = client.get("/health").json()["models"]
    assert {(each["source"], each["target"]) for each in served} == {*PAIRS, ("fr", "en")}
    assert len({each["version"] for each in served}) == 2
    assert several_models.pairs["en", "de"].model is several_models.pairs["de", "en"].model


def test_a_request_gets_its_direction(client, several_models):
    translations = set()
    for source, target in (*PAIRS, ("fr", "en")):
        for text in ("the cat", ">>fr<< the cat"):
            answer = ask(client, q=text, source=source, target=target).json()
            expected = several_models.pairs[source, target].translate(text)
            assert answer == {"translatedText": expected}
            aligned = ask(client, "/align", q=text, source=source, target=target).json()
            assert aligned["translatedText"] == expected
            assert all(word["text"] in text for word in aligned["sourceWords"])
        translations.add(expected)
    assert len(translations) == 4


def test_a_pair_that_was_not_trained_is_rejected(client):
    answer = ask(client, q="Hund", source="de", target="fr")
    assert answer.status_code == 400
    assert "(fr) is not available as a target language from German (de)" in answer.json()["error"]


def test_two_models_of_one_pair_are_an_error(several):
    with pytest.raises(HeadwayError, match="give one model for each direction"):
        load_models([several, several], overrides={"search.max-extra": "7"})


def test_other_codes_of_a_language_are_listed_and_read(tokenizer, tmp_path):
    model = write_random_model(tmp_path, tokenizer, ("en", "pt-BR"), 7)
    with client_of(load_models([model], overrides={"search.max-extra": "2"})) as client:
        [english, portuguese] = client.get("/languages").json()
        assert (english["aliases"], portuguese["aliases"]) == ([], ["pt", "pb"])
        for code in ("pt-BR", *portuguese["aliases"]):
            assert ask(client, target=code).status_code == 200
