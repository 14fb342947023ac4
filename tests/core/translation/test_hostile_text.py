"""Strange texts: a small part of ``tests/outside/text_campaigns.py``."""

import pytest

from headway.config import SearchConfig, TextConfig
from headway.text.tokenizer import Tokenizer
from headway.translation import split_sentences
from support.pieces import cut
from support.strange_texts import strange_texts
from support.text_promises import comes_back, ends, neutral, slow_shapes
from support.toy_models import sentences


@pytest.mark.parametrize("subwords", ["bpe", "unigram"])
def test_strange_texts_are_split_and_tokenized_without_loss(tokenizer, subwords):
    if subwords == "unigram":
        pairs = [(text, text.upper()) for text in sentences(300, 2)]
        tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=310, subwords="unigram"))
    broken, seen = comes_back(tokenizer, strange_texts(1_000, 1, longest=1_000))
    assert (broken[:3], seen) == ([], 1_000)


@pytest.mark.parametrize("what", ["decode", "cut", "sentences"])
def test_time_grows_linearly_with_the_text(translator, what):
    tokenizer = translator.tokenizer
    work = {
        "decode": lambda text: tokenizer.decode_source(tokenizer.encode_source([text])[0]),
        "cut": lambda text: cut(translator, text),
        "sentences": lambda text: split_sentences(text, "fr"),
    }[what]
    assert slow_shapes(work, 8_000 if what == "sentences" else 2_000) == []


def test_a_strange_line_does_not_change_its_neighbors(translator):
    lines = [*sentences(5, 4, longest=13), *strange_texts(9, 2, longest=40)]
    lines = ["".join(line.split("\n")) for line in lines]
    broken, worst = neutral(translator, lines, SearchConfig(max_extra=2))
    assert (broken[:3], worst) == ([], pytest.approx(0, abs=1e-4))


def test_the_search_ends_for_every_strange_text(tokenizer):
    broken, largest = ends(tokenizer, 25, seed=3)
    assert broken[:3] == []
    assert largest == 1.0  # an untrained model rarely ends, so each search reaches its limit
