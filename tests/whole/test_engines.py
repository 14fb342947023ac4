"""All engines find the same: plain, native, fixed and several together."""

import numpy as np
import pytest
import torch

from headway.config import ModelConfig
from headway.errors import HeadwayError
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
    assert_equal,
    library,
    model_of,
    native,
    search,
    search_batch,
    sources,
)
from support.toy_language import EOS

# What makes an engine for one model.
ENGINES = {
    "native": lambda model: NativeEngine(model, "fp32", library()),
    "fixed": FixedEngine,
    "ensemble": lambda model: join(PlainEngine(model), PlainEngine(model)),
}
ONLY_FIXED = {  # shapes that native code does not have
    "window": {"window": 3}, "additive": {"compatibility": "additive"},
    "narrow": {"d_embedding": 11}, "lstm encoder": {"encoder_mixer": "lstm"},
}  # fmt: skip
KINDS = [pytest.param(kind, marks=native) if kind == "native" else kind for kind in ENGINES]
WORDS = WordEdges(np.arange(VOCAB) % 3 == 0, np.arange(VOCAB) % 2 == 0)


def join(*engines, vocab=VOCAB):
    return EnsembleEngine([*engines], vocab - 1, torch.device("cpu"))


def list_searches(vocab):
    """Return the options of searches of all kinds for five sentences, and what their results must fulfil."""
    chooser = np.random.default_rng(2)
    prefixes = [[3, 5], [], [7], [], [2, 2, 2]]
    some = [np.unique([EOS, *p, vocab - 1, *chooser.integers(2, vocab, 9)]) for p in prefixes]
    words = [
        [tuple(chooser.integers(2, vocab - 1, 1 + j).tolist()) for j in range(2)] for _ in range(2)
    ]
    automata = [SentenceAutomaton.of([Constraint(tuple(w)) for w in words[:n]], WORDS) if n else None for n in (0, 1, 2, 0, 1)]  # fmt: skip
    beam = {"beam": 4, "alpha": 0.6, "n_best": 2}
    return [
        (beam, lambda row, tokens: True),
        ({"beam": 1, "alpha": 0.6}, lambda row, tokens: True),
        (beam | {"prefixes": prefixes}, lambda row, tokens: tokens[: len(prefixes[row])] == prefixes[row]),
        (beam | {"alpha": 1.0, "prefixes": prefixes, "choices": some}, lambda row, tokens: {*tokens} <= {*some[row].tolist()}),
        (beam | {"automata": automata}, lambda row, tokens: automata[row] is None or automata[row].accepts(tokens[:-1])),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        *(pytest.param("native", shape, marks=native) for shape in SHAPES),
        *(("fixed", shape) for shape in [*SHAPES, *ONLY_FIXED]),
        ("ensemble", "plain"), ("ensemble", "pre"),
    ],
)  # fmt: skip
def test_an_engine_finds_what_the_plain_one_finds(kind, shape):
    model, texts = model_of({**SHAPES, **ONLY_FIXED}[shape]), sources(5)
    vocab = model.config.target_vocab_size
    engines = ENGINES[kind](model), PlainEngine(model)
    for options, is_right in list_searches(vocab):
        if "automata" in options and vocab != VOCAB:
            continue
        with torch.inference_mode():
            ours, theirs = (
                search_batch(engine, texts, [9, 31, 12, 4, 9], eos=EOS, pad=vocab - 1, **options)
                for engine in engines
            )
        assert_equal(ours, theirs)
        assert all(is_right(row, h.tokens) for row, found in enumerate(ours) for h in found)


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_that_are_not_finite_are_reported(kind):
    for layer, value in (("inner", 1e30), ("outer", float("nan")), ("inner", float("inf"))):
        model, good = model_of({}), model_of({})
        with torch.no_grad():
            getattr(model.decoder.layers[1].feed_forward, layer).weight.mul_(value)
        engines = [ENGINES[kind](model)]
        if kind == "native":
            engines += [NativeEngine(model, "int8", library()), join(ENGINES[kind](good), *engines)]
        for engine in engines:
            with pytest.raises(HeadwayError, match="not finite"):
                search(engine, model, sources(3))


@pytest.mark.parametrize("kind", KINDS[:2])
def test_learned_positions_have_a_limit(kind):
    model = model_of(SHAPES["swish"])
    ends = {"beam": 1, "alpha": 0.6, "eos": EOS, "pad": VOCAB - 1}
    for texts, limit in (([[5] * 62], 3), ([[5]], 62)):
        with pytest.raises(HeadwayError, match="61 were learned"):
            search_batch(ENGINES[kind](model), texts, [limit], **ends)
    [[found]] = search_batch(ENGINES[kind](model), [[5]], [61], **ends)
    assert len(found.tokens) <= 61


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
    engines.append(join(*engines, vocab=vocab))
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
            with pytest.raises((IndexError, HeadwayError)):
                engine.start([[3, bad, 4]], 1, 5)
            with pytest.raises((IndexError, HeadwayError)), torch.inference_mode():
                engine.start([[3, 4]], 1, 5).candidates(np.array([bad]), 2, None)
    started = NativeEngine(model, "fp32", library()).start([[3, 4]], 1, 5)
    for _ in range(5):
        started.logits(np.array([3]))
    with pytest.raises(IndexError):
        started.logits(np.array([3]))
    started = NativeEngine(model, "fp32", library()).start([[3, 4]], 1, 5)
    with pytest.raises(IndexError):
        started.candidates(np.array([3]), 2, np.array([VOCAB]))
