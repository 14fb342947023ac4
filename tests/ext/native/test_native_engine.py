"""The native engine gives the logits and translations of the plain one, in any batch, for any shape."""

import resource
from pathlib import Path

import numpy as np
import pytest
import torch

from headway.ext.native import decoding
from headway.ext.native.native_engine import NativeEngine
from headway.translation import sample
from headway.translation.alignment import alignment_layers
from headway.translation.engines.low_precision import bf16_linear, int8_linear, quantize
from headway.translation.engines.plain_engine import PlainEngine
from support.engines import (
    EOS,
    LIBRARY,
    PRECISIONS,
    SHAPES,
    VOCAB,
    attend,
    distance,
    library,
    model_of,
    native,
    search,
    sources,
    walk,
)
from support.processes import spawn, wait


@native
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_native_logits_equal_those_of_the_model(shape):
    """Scores that are not scaled round by far more than others: the exact logits give the measure."""
    model = model_of(shape)
    ours, plain = (
        walk(engine, model)
        for engine in (NativeEngine(model, "fp32", library()), PlainEngine(model))
    )
    exact = walk(PlainEngine(model.double()), model)
    assert distance(ours, exact) < 10 * distance(plain, exact) < 1e-3


@native
@pytest.mark.parametrize("precision", ["bf16", "int8"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_native_rounded_logits_equal_those_of_the_plain_version(shape, precision):
    """Both round alike, but where a number lies on the edge, the last bit of fp32 decides.

    One such step is 2^-8 of a bf16 number, and of an int8 row 1/127 of its largest; a few of them
    through a few layers stay below 3 and 5 %. Without the rounding, distances are like these: that
    the twin is right is shown by `test_a_native_rounded_map_equals_the_plain_version`.
    """
    model = model_of(shape)
    ours = walk(NativeEngine(model, precision, library(precision)), model)
    theirs = walk(PlainEngine(model, precision), model)
    assert distance(ours, theirs) < {"bf16": 0.03, "int8": 0.05}[precision]
    middle = sorted(distance([a], [b]) for a, b in zip(ours, theirs, strict=True))[len(ours) // 2]
    assert middle < {"bf16": 0.02, "int8": 0.03}[precision]


@native
@pytest.mark.parametrize("rows", [1, 4, 5, 67])
@pytest.mark.parametrize(("inputs", "outputs"), [(7, 5), (64, 128), (1031, 31)])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_native_rounded_map_equals_the_plain_version(precision, rows, inputs, outputs):
    generator = torch.Generator().manual_seed(rows)
    x = torch.randn(rows, inputs, generator=generator)
    x[0] = 0  # a row without a scale
    weight = torch.randn(outputs, inputs, generator=generator)
    weight[1] = 0
    bias = torch.randn(outputs, generator=generator)
    found = decoding.PackedLinear(library(precision), precision, weight, bias)(x)
    if precision == "int8":  # integers are exact; only three roundings of fp32 differ
        expected = int8_linear(x, quantize(weight), bias)
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
        return
    expected = x.double() @ weight.double().t() + bias
    if precision == "bf16":
        expected = bf16_linear(x.double(), weight.bfloat16(), bias)
    torch.testing.assert_close(found.double(), expected.double(), rtol=1e-5, atol=2e-4)


@native
@pytest.mark.parametrize(
    ("shape", "layers"),  # of seven layers, one is watched
    [("plain", 1), ("plain", 7), *((name, 3) for name in SHAPES if name != "shallow")],
)
def test_native_attention_equals_that_of_the_model(shape, layers):
    model = model_of({**SHAPES[shape], "num_decoder_layers": layers})
    engine, texts = NativeEngine(model, "fp32", library()), sources(9)
    vocab = model.config.target_vocab_size
    targets = [[token % (vocab - 3) + 2 for token in text[::-1]] + [EOS] for text in texts]
    with torch.inference_mode():
        found, plain = (attend(each, texts, targets) for each in (engine, PlainEngine(model)))
        exact = attend(PlainEngine(model.double()), texts, targets)
    ours, theirs = (
        max((one - other).abs().max().item() for one, other in zip(each, exact, strict=True))
        for each in (found, plain)
    )
    assert ours < 10 * theirs < 1e-3
    for source, target, weights_TS in zip(texts, targets, found, strict=True):
        assert weights_TS.shape == (len(target), len(source))
        torch.testing.assert_close(weights_TS.sum(1), torch.ones(len(target)))


@native
@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_attention_of_a_pair_alone_equals_its_own_in_a_batch_bit_for_bit(precision):
    engine = NativeEngine(model_of(SHAPES["wide"]), precision, library(precision))
    texts = sources(37)
    targets = [[*text[3:], *text[:5], EOS] for text in texts]
    together = engine.read(texts, targets, layers=alignment_layers)
    for source, target, given in zip(texts, targets, together, strict=True):
        [alone] = engine.read([source], [target], layers=alignment_layers)
        assert torch.equal(alone.weights, given.weights)
        assert (alone.log_p == given.log_p).all()
        for wanted in ({"is_scored": False}, {"layers": None}):
            [part] = engine.read([source], [target], **{"layers": alignment_layers, **wanted})
            assert "layers" in wanted or torch.equal(part.weights, given.weights)
            assert "is_scored" in wanted or (part.log_p == given.log_p).all()


@native
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("shape", ["plain", "wide"])
def test_a_sentence_alone_equals_itself_in_a_batch_bit_for_bit(shape, precision):
    model = model_of(SHAPES[shape])
    engine = NativeEngine(model, precision, library(precision))
    texts = sources(37)
    together = search(engine, model, texts)
    assert [search(engine, model, [text])[0] for text in texts] == together


@native
def test_native_samples_equal_plain_ones():
    model, seeds = model_of({}), [[(1, draw, row) for draw in range(3)] for row in range(5)]
    ends = {"eos": EOS, "pad": VOCAB - 1, "seeds": seeds, "top_k": 20}
    with torch.inference_mode():
        started = [
            engine.start(sources(5), 3, 9)
            for engine in (NativeEngine(model, "fp32", library()), PlainEngine(model))
        ]
        ours, theirs = (sample(each, [9] * 5, **ends) for each in started)
    assert [[h.tokens for h in some] for some in ours] == [
        [h.tokens for h in some] for some in theirs
    ]


@native
def test_the_best_tokens_are_exact_and_ties_are_ordered_by_id():
    model = model_of({})
    with torch.no_grad():
        model.target_table.weight[30:40] = model.target_table.weight[50]  # eleven equal logits
    engine = NativeEngine(model, "fp32", library())
    texts, tokens = sources(3), np.full(3, VOCAB - 1)
    for wanted in (1, 2, 8, 64, VOCAB - 1, VOCAB + 7):
        [logits, found] = [
            engine.start(texts, 1, 3).logits(tokens).numpy(),
            engine.start(texts, 1, 3).candidates(tokens, wanted, None),
        ]
        log_z = torch.from_numpy(logits).double().logsumexp(-1).numpy()
        np.testing.assert_allclose(found.log_z, log_z, rtol=1e-6)
        logits[:, VOCAB - 1] = -np.inf
        expected = (-logits).argsort(1, kind="stable")[:, :wanted]
        np.testing.assert_array_equal(found.tokens[:, : expected.shape[1]], expected)
        np.testing.assert_array_equal(
            found.logits[:, : expected.shape[1]], np.take_along_axis(logits, expected, 1)
        )
        assert (found.logits[:, VOCAB - 1 :] == -np.inf).all()


@native
def test_log_z_is_finite_for_logits_of_any_size():
    model = model_of({"tying": "none", "output_bias": True})
    assert model.output.bias is not None
    for low, high in ((-300.0, 200.0), (-200.0, -199.0), (90.0, 300.0)):
        with torch.no_grad():
            model.output.bias.copy_(torch.linspace(low, high, VOCAB))
            model.output.bias[-1] = (
                high + 40
            )  # the logit of <pad>, which is no candidate but part of log Z
        started = NativeEngine(model, "fp32", library()).start([[5]], 1, 3)
        expected = PlainEngine(model).start([[5]], 1, 3)
        with torch.inference_mode():
            ours, theirs = (
                s.candidates(np.array([VOCAB - 1]), 4, None) for s in (started, expected)
            )
        assert ours.log_z == pytest.approx(theirs.log_z, rel=1e-6)
        assert ours.tokens.tolist() == theirs.tokens.tolist()


def want_too_much():
    """Ask for more and more memory until the limit of the process, which is near."""
    assert LIBRARY is not None
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    weight = torch.ones(1000, 1000)
    resource.setrlimit(resource.RLIMIT_AS, (used + (32 << 20), -1))
    kept = []
    try:
        for _ in range(1000):
            kept.append(decoding.PackedLinear(LIBRARY, "fp32", weight))
    except MemoryError as error:
        kept.clear()
        print(f"told: {error}")


@native
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_missing_memory_raises_an_error_and_the_process_goes_on(tmp_path):
    log = tmp_path / "log"
    assert wait(spawn(want_too_much, log), 60) == 0
    assert log.read_text() == "told: linear_new: no memory is left\n"


@native
@pytest.mark.parametrize("precision", PRECISIONS)
def test_native_logits_that_are_asked_for_are_those_of_the_candidates(precision):
    engine = NativeEngine(model_of(SHAPES["untied"]), precision, library(precision))
    texts, pad = sources(5), 96
    choices = [np.array([1, 5 + i, 17, 40, 80, pad]) for i in range(5)]
    with torch.inference_mode():
        for wanted in (None, choices):
            asked = np.array([[1, 17, 40, pad]] * 10)
            start = [engine.start(texts, 2, 9, wanted) for _ in range(2)]
            first = start[0].candidates(np.full(10, pad), pad, None, asked)
            second = start[1].candidates(np.full(10, pad), pad, None)
            for name in ("tokens", "logits", "log_z"):
                assert np.array_equal(getattr(first, name), getattr(second, name))
            for row in range(10):
                at = [first.tokens[row].tolist().index(token) for token in (1, 17, 40)]
                assert first.asked[row, :3].tolist() == first.logits[row, at].tolist()
            with pytest.raises(IndexError):
                start[0].candidates(np.full(10, 3), 2, None, asked + 100)
