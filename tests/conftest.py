"""Fixtures of several rooms: a tokenizer, a small model with random weights, and its translator."""

from pathlib import Path

import pytest

from headway.config import TextConfig
from headway.inference import Translator
from headway.text.tokenizer import Tokenizer
from support.toy_models import sentences, translate_words, write_random_model


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    pairs = [(text, translate_words(text)) for text in sentences(400, 1)]
    return Tokenizer.learn(pairs, TextConfig(vocab_size=331))


@pytest.fixture(scope="session")
def model_directory(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of them, English to German."""
    return write_random_model(tmp_path_factory.mktemp("model"), tokenizer)


@pytest.fixture(scope="session")
def translator(model_directory: Path) -> Translator:
    return Translator.load(model_directory)
