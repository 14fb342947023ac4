"""Several models in native code: the mean of their probabilities, as the plain engine has it."""

import numpy as np
import pytest
import torch

from headway.ext.native.native_engine import NativeEngine
from headway.translation import StepDecoding
from headway.translation.engines.ensemble import EnsembleEngine, EnsembleState, read_tokens
from headway.translation.engines.plain_engine import PlainEngine
from support.engines import PRECISIONS, SHAPES, VOCAB, library, model_of, native, search, sources

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def is_close(ours, theirs):
    pairs = [(a, b) for x, y in zip(ours, theirs, strict=True) for a, b in zip(x, y, strict=True)]
    return all(a.tokens == b.tokens and abs(a.score - b.score) < 1e-5 for a, b in pairs)


@native
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", ["native", "plain", "both"])
def test_a_model_with_itself_equals_the_model(kind, precision):
    if kind == "both" and precision != "fp32":
        pytest.skip("the engines round differently")
    model, texts = model_of(SHAPES["wide"]), sources(17)
    native_engine = NativeEngine(model, precision, library(precision))
    plain = PlainEngine(model, precision)
    engines = {"native": [native_engine] * 3, "plain": [plain] * 3, "both": [native_engine, plain]}
    members = engines[kind]
    together = EnsembleEngine(members, VOCAB - 1, torch.device("cpu"))
    assert is_close(search(together, model, texts), search(members[0], model, texts))


@native
@pytest.mark.parametrize("sharpness", [1, 1e3, 1e5])
def test_native_candidates_equal_those_of_torch(sharpness):
    """Also of tokens that are forced or asked for, and if a probability is too small for a float."""
    models, texts = [model_of(SHAPES["wide"], seed) for seed in (1, 2)], sources(40)
    for model in models:
        model.output.scale *= sharpness
    engines = [NativeEngine(model, "fp32", library("fp32")) for model in models]
    members = [engine.start(texts, 2, 9) for engine in engines]
    plain = StepDecoding(read_tokens, EnsembleState(members), VOCAB - 1)
    ours = EnsembleEngine(engines, VOCAB - 1, torch.device("cpu")).start(texts, 2, 9)
    random = np.random.default_rng(5)
    N = 2 * len(texts)
    tokens = np.full(N, VOCAB - 1)
    asked = np.sort(random.integers(0, VOCAB - 1, (N, 3)))
    for forced in (None, np.where(random.random(N) < 0.5, random.integers(0, VOCAB - 1, N), -1)):
        log_p = plain.logits(tokens).double().numpy()
        found = ours.candidates(tokens, 4, forced, asked)
        assert (found.log_z == 0).all()
        np.testing.assert_allclose(found.asked, np.take_along_axis(log_p, asked, 1), **CLOSE)
        is_free = np.full(N, True) if forced is None else forced < 0
        if forced is not None:
            assert (found.tokens[~is_free, 0] == forced[~is_free]).all()
            assert (found.logits[~is_free, 1:] == -np.inf).all()
            theirs = np.take_along_axis(log_p, found.tokens, 1)[~is_free, 0]
            np.testing.assert_allclose(found.logits[~is_free, 0], theirs, **CLOSE)
        ours_p, ids = found.logits[is_free], found.tokens[is_free]
        assert (ids != VOCAB - 1).all()
        assert (np.diff(ours_p) <= 0).all()
        np.testing.assert_allclose(ours_p, np.take_along_axis(log_p[is_free], ids, 1), **CLOSE)
        best = -np.sort(-log_p[is_free, : VOCAB - 1])[:, :4]
        likely = best > -87  # the others are in the order of their ids
        np.testing.assert_allclose(ours_p[likely], best[likely], **CLOSE)
        tokens = np.where(is_free, found.tokens[:, 0], 3)
    assert (found.asked.min() < -200) == (sharpness > 1)
