"""All engines find the same: plain, native, fixed and several together."""

import numpy as np
import pytest
import torch

from headway.config import ModelConfig
from headway.ext.cuda.fixed_engine import FixedEngine
from headway.ext.native.native_engine import NativeEngine, is_supported
from headway.translation.alignment import single_layer
from headway.translation.engines.ensemble import EnsembleEngine
from headway.translation.engines.plain_engine import PlainEngine
from headway.translation.search.automaton import SentenceAutomaton
from headway.translation.search.constraints import Constraint, WordEdges
from support.engines import (
    SHAPES,
    VOCAB,
    library,
    model_of,
    native,
    search_batch,
    sources,
)
from support.toy_language import EOS


@pytest.mark.slow
@native
@pytest.mark.parametrize("shape", ["plain", "pre"])
def test_native_plain_fixed_and_ensemble_engines_agree(shape):
    model, texts, some = model_of(SHAPES[shape]), sources(11), real_constraints(11)
    limits = [9 + len(text) for text in texts]
    engine, device = PlainEngine(model), torch.device("cpu")
    engines = [
        NativeEngine(model, "fp32", library()),
        FixedEngine(model),
        EnsembleEngine([engine, engine], VOCAB - 1, device),
    ]
    with torch.inference_mode():
        expected = search_batch(engine, texts, limits, automata=automata(some), **OPTIONS)
        for each in engines:
            found = search_batch(each, texts, limits, automata=automata(some), **OPTIONS)
            assert [[h.tokens for h in n] for n in found] == [
                [h.tokens for h in n] for n in expected
            ]
    for hypotheses, each in zip(expected, some, strict=True):
        automaton = SentenceAutomaton.of(each, WORDS) if each else None
        assert all(automaton is None or automaton.accepts(h.tokens[:-1]) for h in hypotheses)


def real_constraints(count):
    generator = np.random.default_rng(2)
    return [
        [
            Constraint(
                tuple(tuple(generator.integers(2, VOCAB - 1, 1 + j).tolist()) for j in range(2))
            )
            for _ in range(number % 3)
        ]
        for number in range(count)
    ]


def automata(some):
    return [SentenceAutomaton.of(each, WORDS) if each else None for each in some]


OPTIONS = {"beam": 4, "alpha": 0.6, "n_best": 2, "eos": 1, "pad": VOCAB - 1}


WORDS = WordEdges(np.arange(VOCAB) % 3 == 0, np.arange(VOCAB) % 2 == 0)


def test_a_single_layer_is_the_last_but_one_of_many():
    for count, layer in ((0, range(0)), (1, range(1)), (6, range(4, 5)), (7, range(5, 6))):
        assert single_layer(ModelConfig(num_decoder_layers=count)) == layer


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_engines_read_the_probabilities_of_given_tokens(shape):
    model = model_of(shape)
    vocab = model.config.target_vocab_size
    texts = sources(9)
    targets = [[token % (vocab - 3) + 2 for token in text[::-1]] + [EOS] for text in texts]
    engines = [PlainEngine(model), FixedEngine(model)]
    if library() is not None and is_supported(model):
        engines.append(NativeEngine(model, "fp32", library()))
    engines.append(EnsembleEngine([*engines], vocab - 1, torch.device("cpu")))
    with torch.inference_mode():
        expected = [
            model.double()(torch.tensor([source]), torch.tensor([target]))
            .log_softmax(-1)[0, range(len(target)), target]
            .numpy()
            for source, target in zip(texts, targets, strict=True)
        ]
        model.float()
        for engine in engines:
            for given, log_p_T in zip(engine.read(texts, targets), expected, strict=True):
                assert given.log_p.dtype == np.float64
                assert given.log_p == pytest.approx(log_p_T, rel=1e-4, abs=1e-3)
                assert not given.weights.numel()


@native
def test_unknown_tokens_and_steps_beyond_the_limit_are_rejected():
    """In both engines; without the check, native code would read other memory."""
    model = model_of(SHAPES["plain"])
    for engine in (NativeEngine(model, "fp32", library()), PlainEngine(model)):
        for bad in (VOCAB, -1):
            with pytest.raises(IndexError):
                engine.start([[3, bad, 4]], 1, 5)
            with pytest.raises(IndexError), torch.inference_mode():
                engine.start([[3, 4]], 1, 5).candidates(np.array([bad]), 2, None)
    started = NativeEngine(model, "fp32", library()).start([[3, 4]], 1, 5)
    for _ in range(5):
        started.logits(np.array([3]))
    with pytest.raises(IndexError):
        started.logits(np.array([3]))
    started = NativeEngine(model, "fp32", library()).start([[3, 4]], 1, 5)
    with pytest.raises(IndexError):
        started.candidates(np.array([3]), 2, np.array([VOCAB]))
