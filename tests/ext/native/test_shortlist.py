"""A shortlist is learned from attention, and a search with it equals a search among its tokens."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.ext.native.native_engine import NativeEngine
from headway.ext.native.shortlist import (
    FILE,
    MAX_CANDIDATES,
    Shortlist,
    ShortlistLearner,
    load_shortlist,
)
from headway.model import Transformer
from headway.translation import Translator, beam_search, save_model
from headway.translation.token_stream import stream_tokens
from support.engines import EOS, PRECISIONS, SHAPES, VOCAB, library, model_of, native, sources
from support.pieces import cut
from support.toy_models import sentences, small_config


def choices(count, size=37):
    generator = np.random.default_rng(1)
    return [
        np.union1d(generator.choice(VOCAB, size + 5 * i), [EOS, VOCAB - 1]) for i in range(count)
    ]


def search(engine, texts, wanted, **options):
    limits = [5 + len(text) // 2 for text in texts]
    with torch.inference_mode():
        started = engine.start(texts, 4, max(limits), wanted)
        return beam_search(
            started, limits, beam=4, alpha=0.6, n_best=2, eos=EOS, pad=VOCAB - 1, **options
        )


@native
def test_a_forced_token_must_be_on_the_shortlist():
    engine = NativeEngine(model_of(SHAPES["plain"]), "fp32", library())
    for forced in (15, 300):
        started = engine.start([[3, 4]], 1, 5, [np.array([1, 10, 20, VOCAB - 1])])
        with pytest.raises(IndexError):
            started.candidates(np.array([3]), 2, np.array([forced]))


@native
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_shortlist_of_the_whole_vocabulary_changes_nothing(precision):
    model, texts = model_of(SHAPES["wide"]), sources(11)
    engine = NativeEngine(model, precision, library(precision))
    assert search(engine, texts, [np.arange(VOCAB)] * 11) == search(engine, texts, None)
    wanted = choices(11)
    together = search(engine, texts, wanted)
    for text, own, found in zip(texts, wanted, together, strict=True):
        assert search(engine, [text], [own]) == [found]


def test_a_shortlist_is_learned_from_attention(tokenizer, tmp_path, monkeypatch):
    model = Transformer(small_config(tokenizer).model).eval()

    def diagonal(self, q, k, allowed=None):
        return torch.eye(q.size(2), k.size(2)).expand(*q.shape[:2], -1, -1)

    # Every target position attends to the source position of the same number.
    monkeypatch.setattr("headway.model.attention.DotProduct.weights", diagonal)
    # Source token s is translated by s + 50, and every fifth time by s + 90.
    generator = np.random.default_rng(1)
    pairs = []
    for number in range(300):
        source = generator.integers(5, 40, 1 + number % 7)
        target = source + (90 if number % 5 == 0 else 50)
        pairs.append(([*source.tolist(), EOS], [*target.tolist(), EOS]))
    learner = ShortlistLearner(model)
    for start in range(0, len(pairs), 64):
        learner.add(pairs[start : start + 64])
    found = learner.shortlist()
    for token in range(5, 40):
        assert found.candidates[token, :3].tolist() == [token + 50, token + 90, -1]
    assert found.common[0] == EOS
    none = Shortlist(found.candidates, found.common[:0])
    assert none.pick([7, 9, 7], 1, [3]).tolist() == [3, 57, 59]
    assert none.pick([7, 9], 2, []).tolist() == [57, 59, 97, 99]

    found.save(tmp_path)
    sizes = tokenizer.source_vocab_size, tokenizer.target_vocab_size
    again = load_shortlist(tmp_path, sizes)
    np.testing.assert_array_equal(again.candidates, found.candidates)
    np.testing.assert_array_equal(again.common, found.common)
    for candidates, common in (
        (found.candidates[:, 0], found.common),
        (found.candidates, found.common[None]),
    ):
        (tmp_path / "flat").mkdir(exist_ok=True)
        Shortlist(candidates, common).save(tmp_path / "flat")
        with pytest.raises(HeadwayError, match="damaged"):
            load_shortlist(tmp_path / "flat", sizes)
    for wrong in ((sizes[0] + 1, sizes[1]), (sizes[0], 90)):
        with pytest.raises(HeadwayError, match="another vocabulary"):
            load_shortlist(tmp_path, wrong)
    (tmp_path / FILE).write_bytes(b"x" * 99)
    with pytest.raises(HeadwayError, match="damaged"):
        load_shortlist(tmp_path, sizes)


def test_a_translator_uses_the_shortlist_of_its_directory(tokenizer, tmp_path):
    torch.manual_seed(3)
    config = small_config(tokenizer)
    save_model(tmp_path, Transformer(config.model), tokenizer, config, ("en", "de"), "# A model\n")
    translator = Translator.load(tmp_path)
    some = SearchConfig(max_extra=5, shortlist=2)
    with pytest.raises(HeadwayError, match="no shortlist"):
        translator.translate("the cat", some)
    lines = sentences(9, 1)
    only = tokenizer.encode_target(["Katze"])[0][0]
    candidates = np.full((tokenizer.source_vocab_size, MAX_CANDIDATES), -1)
    Shortlist(candidates, np.array([only])).save(tmp_path)
    allowed = {only, tokenizer.eos, *tokenizer.encode_source([lines[0]])[0]}
    found = next(translator.stream([lines[0]], some))[0]
    names = tokenizer.target_subwords(sorted(allowed))
    assert set(found.tokens) <= set(names)
    translator.default_search = replace(some, beam=1)
    streamed = "".join(stream_tokens(translator, *cut(translator, lines[0])))
    assert streamed == translator.translate(lines[0])
    assert [t[0].text for t in translator.stream(lines, some)] == [
        translator.translate(line, some) for line in lines
    ]
