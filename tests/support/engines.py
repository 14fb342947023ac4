"""Small random models for tests of the engines, and walks that compare two engines.

Sizes are primes, so that every width needs padding; vectors are whole in the shape "wide" only.
"""

import random

import numpy as np
import pytest
import torch

from headway.config import ModelConfig, SearchConfig
from headway.ext.native import decoding
from headway.ext.native.library import failure_reason
from headway.model import Transformer
from headway.translation.alignment import alignment_layers
from headway.translation.token_search import search_engine
from support.cases import read_rows

EOS, VOCAB = 1, 211
SMALL = read_rows(__file__, "SMALL")
SHAPES = read_rows(__file__, "SHAPES")
PRECISIONS = ["fp32", "bf16", "int8"]
LIBRARY = decoding.library()
native = pytest.mark.skipif(LIBRARY is None, reason=failure_reason("decoding"))


def library(precision="fp32"):
    assert LIBRARY is not None
    if precision == "bf16" and not LIBRARY.headway_has_bf16():
        pytest.skip("no bf16 instructions")
    return LIBRARY


def model_of(shape, seed=1):
    torch.manual_seed(seed)
    model = Transformer(ModelConfig(**{**SMALL, **shape})).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:  # gains of 1 and biases of 0 would hide a mistake
                parameter.add_(torch.randn_like(parameter) * 0.2)
            elif "embedding" not in name:
                parameter.mul_(1.5)
    return model


def sources(count, seed=1, longest=23):
    chooser = random.Random(seed)
    lengths = [1, longest, *(chooser.randrange(1, longest) for _ in range(count))][:count]
    return [[chooser.randrange(2, VOCAB - 1) for _ in range(n)] for n in lengths]


def search_batch(engine, texts, limits, *, beam, alpha, n_best=1, **options):
    settings = SearchConfig(beam=beam, alpha=alpha, n_best=n_best)
    return search_engine(engine, texts, limits, settings, **options)


def search(engine, model, texts, beam=4, n_best=2):
    limits = [5 + len(text) // 2 for text in texts]
    with torch.inference_mode():
        return search_batch(
            engine, texts, limits, beam=beam, alpha=0.6, n_best=min(n_best, beam), eos=EOS,
            pad=model.config.target_vocab_size - 1,
        )  # fmt: skip


def walk(engine, model, steps=12, count=7, beams=3):
    """Logits of random tokens, hypotheses reordered all the time and sentences leaving twice."""
    chooser, pad = random.Random(3), model.config.target_vocab_size - 1
    texts = sources(count)
    found = []
    with torch.inference_mode():
        decoding = engine.start(texts, beams, steps)
        sentences, tokens = len(texts), np.full(len(texts) * beams, pad)
        for step in range(steps):
            found.append(decoding.logits(tokens).float())
            kept = list(range(sentences))
            if step in (4, 8) and sentences > 2:
                kept = sorted(chooser.sample(kept, sentences - 2))
                decoding.keep(np.array(kept))
            rows = [k * beams + chooser.randrange(beams) for k in kept for _ in range(beams)]
            sentences = len(kept)
            tokens = np.array([chooser.randrange(pad) for _ in rows])
            decoding.reorder(np.array(rows))
    return found


def attend(engine, texts, targets, layers=alignment_layers):
    """The attention weights of given targets, [T, S] each."""
    return [each.weights for each in engine.read(texts, targets, is_scored=False, layers=layers)]


def distance(ours, theirs):
    """The largest difference, over the largest logit."""
    pairs = list(zip(ours, theirs, strict=True))
    return max(float((a - b).abs().max()) for a, b in pairs) / max(
        float(b.abs().max()) for _, b in pairs
    )


def assert_equal(ours, theirs):
    """Check that two searches found the same; only translations of equal scores may be exchanged."""
    for mine, others in zip(ours, theirs, strict=True):
        assert len(mine) == len(others)
        for a, b in zip(mine, others, strict=True):
            assert a.score == pytest.approx(b.score, abs=1e-4)
            assert a.log_probability == pytest.approx(b.log_probability, abs=1e-3)
            close = sum(abs(a.score - other.score) < 1e-4 for other in others)
            assert a.tokens == b.tokens or close > 1
