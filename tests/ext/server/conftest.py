"""Models that the tests of the server share."""

import pytest

from headway.ext.server.models import load_models
from headway.text import Tokenizer
from support.toy_models import sentences, write_random_model


@pytest.fixture(scope="session")
def models(model_directory):
    """English to German."""
    return load_models([model_directory], overrides={"search.max-extra": "5"})


@pytest.fixture(scope="session")
def chain(tokenizer, tmp_path_factory):
    """English to German, and by a second model German to French."""
    first = write_random_model(tmp_path_factory.mktemp("first"), tokenizer, ("en", "de"), 10)
    second = write_random_model(tmp_path_factory.mktemp("second"), tokenizer, ("de", "fr"), 7)
    found = load_models([first, second], "de", overrides={"search.max-extra": "7"})
    assert len(set(found.pairs["en", "de"].translate(sentences(30, 5)))) > 25
    return found


@pytest.fixture
def tokenized(monkeypatch):
    """The texts that are tokenized."""
    found = []
    encode = Tokenizer.encode_source

    def recorded(self, texts):
        found.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(Tokenizer, "encode_source", recorded)
    return found
