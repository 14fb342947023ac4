"""Attention of packed rows with the sentences' bounds: equal to attention with masks."""

import copy
from dataclasses import replace
from itertools import pairwise
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from headway.config import ModelConfig
from headway.ext.cuda import gpu_operations, varlen_attention
from headway.ext.cuda.gpu_operations import GpuOperations
from headway.ext.native.native_operations import NativeOperations
from headway.model import Transformer, ops
from headway.model.visibility import Segments, Visibility, pack_sides
from headway.text.batches import fixed_shape, read_batch
from headway.text.shards import Corpus
from headway.training.steps.objective import Objective, compute_gradient

RANDOM = np.random.default_rng(3)
PAIRS = [
    (RANDOM.integers(2, 40, s).tolist(), RANDOM.integers(2, 40, t).tolist())
    for s, t in RANDOM.integers(1, 31, (40, 2))
]
MODEL = ModelConfig(
    source_vocab_size=43, target_vocab_size=43, num_encoder_layers=2, num_decoder_layers=2, d_model=16,
    d_ff=24, num_heads=2, dropout=0.0,
)  # fmt: skip


def plain_varlen_attn(q_THK, k_SHK, v_SHV, query_bounds, key_bounds, *_, scale, window_size):
    """Compute torch's kernel in plain torch, one sentence after the other: [T, H, V]."""
    parts = []
    before, after = window_size
    for queries, keys in zip(*map(sentences_of, (query_bounds, key_bounds)), strict=True):
        q, k, v = (
            x.transpose(0, 1).to(torch.promote_types(x.dtype, torch.float32))  # as the kernel does
            for x in (q_THK[queries], k_SHK[keys], v_SHV[keys])
        )
        distance = torch.arange(k.size(1)) - torch.arange(q.size(1))[:, None]
        hidden = torch.zeros_like(distance, dtype=torch.bool)
        if before >= 0:
            hidden |= distance < -before
        if after >= 0:
            hidden |= distance > after
        scores = (q * scale @ k.transpose(1, 2)).masked_fill(hidden, -torch.inf)
        parts.append((scores.softmax(-1) @ v).transpose(0, 1).to(q_THK.dtype))
    return torch.cat(parts)


def sentences_of(bounds):
    """Return the tokens of each entry."""
    return [slice(start, stop) for start, stop in pairwise(bounds.tolist())]


@pytest.fixture
def kernel(monkeypatch):
    """The plain version in place of torch's kernel, which a processor takes, too."""

    class Both(GpuOperations, NativeOperations):
        """Those of a GPU that can be computed, and else those of a processor."""

    found = Mock(wraps=without_autocast(plain_varlen_attn))
    monkeypatch.setattr("torch.nn.attention.varlen.varlen_attn", found)
    monkeypatch.setitem(ops._installed, "cpu", Both())
    return found


def without_autocast(function):
    def call(*args, **settings):
        with torch.autocast("cpu", enabled=False):
            return function(*args, **settings)

    return call


@pytest.fixture
def corpus(tmp_path):
    return Corpus.write(tmp_path / "corpus", iter(PAIRS), 43)


def gradients(model, batch, *, bf16=False):
    objective = Objective(model, 0.1)
    parameters = list(model.parameters())
    *found, sums = compute_gradient(parameters, objective, batch, batch.target_tokens, bf16)
    return [sums, *found]


@pytest.mark.parametrize(
    ("precision", "changes"),
    [("fp64", {}), ("fp64", {"window": 5}), ("bf16", {"positions": "learned"})],
)
def test_losses_and_gradients_equal_those_with_masks(
    corpus, precision, changes, kernel, monkeypatch
):
    torch.manual_seed(1)
    model = Transformer(replace(MODEL, **changes))
    exact = copy.deepcopy(model).double()
    is_bf16 = precision == "bf16"
    masked = read_batch(corpus, np.arange(24), 42, 42, packed=True)
    bounded = read_batch(corpus, np.arange(24), 42, 42, packed=True, shape=fixed_shape(900, 30, 15))
    assert bounded.source.size(1) > masked.source.size(1)
    if not is_bf16:
        monkeypatch.setattr(gpu_operations, "VARLEN_TYPES", (torch.float64,))
    expected = gradients(exact, masked)
    rounded = gradients(model, masked, bf16=True)
    kernel.assert_not_called()
    found = gradients(model if is_bf16 else exact, bounded, bf16=is_bf16)
    assert kernel.call_count == 6  # two encoder layers, and twice two kinds of attention
    for one, other, right in zip(found, rounded, expected, strict=True):
        # In bf16 as near to the exact numbers as attention with masks.
        tolerance = 1.5 * (other - right).norm() if is_bf16 else 1e-10 * right.norm()
        assert (one - right).norm() <= tolerance


@pytest.mark.parametrize("kind", ["padded", "bounded"])
def test_two_batches_in_one_have_the_losses_and_gradients_of_both(
    kind, corpus, kernel, monkeypatch
):
    monkeypatch.setattr(gpu_operations, "VARLEN_TYPES", (torch.float64,))
    torch.manual_seed(1)
    model = Transformer(MODEL).double()
    shape = fixed_shape(900, 30, 15) if kind == "bounded" else None
    first, second = (
        read_batch(corpus, rows, 42, 42, packed=kind != "padded", shape=shape)
        for rows in (np.arange(24), np.arange(24)[::-1].copy())
    )
    found = gradients(model, first.followed_by(second))
    expected = [
        (one + other) / (1 if number == 0 else 2)  # gradients are divided by the tokens of a batch
        for number, (one, other) in enumerate(
            zip(gradients(model, first), gradients(model, second), strict=True)
        )
    ]
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)


def test_torchs_kernel_gets_bounds_windows_and_types_that_it_takes():
    lengths = [np.array([30, 25, 17]), np.array([22, 31, 5])]
    with FakeTensorMode(allow_non_fake_inputs=True):
        for dtype, is_taken in ((torch.bfloat16, True), (torch.float32, False)):
            source, target = pack_sides(lengths, fixed_shape(100, 32, 20))
            queries = Segments(torch.ones(1, 128, dtype=torch.long), True, target)
            keys = Segments(torch.ones(1, 128, dtype=torch.long), True, source)
            x = torch.randn(1, 2, 128, 16, dtype=dtype, requires_grad=True)
            for visibility in (Visibility(queries, keys), Visibility(keys, keys, True, 4)):
                can = gpu_operations.fits_varlen(x, x, x, visibility)
                assert can is is_taken
                if can:
                    y = varlen_attention.varlen_attention(x, x, x, visibility, 0.25)
                    assert y.shape == x.shape
                    y.sum().backward()
    assert not gpu_operations.fits_varlen(*[torch.randn(1, 2, 8, 16)] * 3, Visibility())


@pytest.mark.parametrize("widths", [(4, 16), (12, 20), (16, 16)])
def test_widths_that_torchs_kernel_does_not_take_are_filled_up(widths, kernel):
    """The kernel takes one width for keys and values, a multiple of 8."""
    source, target = pack_sides([np.array([30, 3]), np.array([22, 31])], fixed_shape(100, 32, 20))
    queries, keys = (
        Segments(torch.ones(1, 128, dtype=torch.long), True, side) for side in (target, source)
    )
    q, k, v = (torch.randn(1, 2, 128, width) for width in (widths[0], *widths))
    found = varlen_attention.varlen_attention(q, k, v, Visibility(queries, keys), 0.25)
    given = kernel.call_args.args[:3]
    assert len({x.size(-1) for x in given}) == 1
    assert given[0].size(-1) % 8 == 0
    assert found.shape == (1, 2, 128, widths[1])
    expected = plain_varlen_attn(
        *(x[0].transpose(0, 1) for x in (q, k, v)),
        target.bounds,
        source.bounds,
        scale=0.25,
        window_size=(-1, -1),
    )
    torch.testing.assert_close(found[0].transpose(0, 1), expected)
