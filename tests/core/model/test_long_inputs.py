"""Long inputs: no number for each pair of positions, and the same result as with all of them."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from headway.config import ModelConfig
from headway.model import (
    Additive,
    DotProduct,
    MultiHeadAttention,
    Segments,
    SelfAttention,
    Transformer,
    Visibility,
)
from headway.model.decoder_cache import Cache
from headway.model.plain_attention import attend_with_mask, attention_mask

HEADS, D_K, D_V = 3, 5, 7
CORES = {
    "dot": lambda dropout=0.0: DotProduct(dropout=dropout),
    "additive": lambda dropout=0.0: Additive(HEADS, D_K, dropout=dropout),
}
SHAPE = ModelConfig(
    source_vocab_size=41, target_vocab_size=41, num_encoder_layers=2, num_decoder_layers=2,
    d_model=12, d_ff=17, num_heads=3, d_k=5, d_v=5, dropout=0.0, max_positions=347,
)  # fmt: skip


def segments(kind, length):
    """Two rows: whole and half padding, or of several sentences each."""
    place = torch.arange(length)
    if kind == "padded":
        return (place < torch.tensor([[length], [length // 2]])).long()
    if kind == "packed":
        ends = torch.tensor([[71, 149, length - 6], [13, 14, length - 61]])
        return (place[None, :, None] >= ends[:, None]).sum(-1).add(1) % 4
    return None


def heads(length, d_v=D_K, dtype=torch.float64):
    generator = torch.Generator().manual_seed(length)
    return [
        torch.randn(2, HEADS, length, width, dtype=dtype, generator=generator).requires_grad_()
        for width in (D_K, D_K, d_v)
    ]


def run(attend, qkv, seen):
    """Return the output where there is no padding, and the gradients of a loss that sees no more."""
    y = attend(*qkv)
    if seen is not None:
        y = y * (seen != 0)[:, None, :, None]
    weights = torch.randn(y.shape, dtype=y.dtype, generator=torch.Generator().manual_seed(1))
    return [y, *torch.autograd.grad((y * weights).sum(), qkv)]


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("kind", ["whole", "padded", "packed"])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("window", [0, 2, 200])
def test_long_self_attention_equals_attention_with_a_stored_mask(core, kind, causal, window):
    torch.manual_seed(3)
    length = 307
    module = CORES[core]().double()
    seen = segments(kind, length)
    segmented = None if seen is None else Segments(seen, is_packed=kind == "packed")
    visibility = Visibility(segmented, segmented, causal, window)
    # torch's fused kernel, which only dot products use, wants equal widths.
    for d_v in (D_V,) if core == "additive" or not causal else (D_K, D_V):
        qkv = heads(length, d_v)
        ours = run(lambda q, k, v: module(q, k, v, visibility), qkv, seen)
        twin = run(
            lambda q, k, v: attend_with_mask(
                module.weights, q, k, v, attention_mask(q, k, visibility)
            ),
            qkv,
            seen,
        )
        for a, b, tolerance in zip(ours, twin, (1e-12, 1e-11, 1e-11, 1e-11), strict=True):
            assert (a - b).abs().max() <= tolerance * max(1.0, b.abs().max().item())


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("packed", [True, False])
def test_long_cross_attention_equals_attention_with_a_stored_mask(core, packed):
    torch.manual_seed(3)
    module = CORES[core]().double()
    queries, keys = segments("packed", 173), segments("packed" if packed else "padded", 283)
    visibility = Visibility(
        Segments(queries, is_packed=True) if packed else None, Segments(keys, is_packed=packed)
    )
    q, (_, k, v) = heads(173)[0], heads(283)
    seen = queries if packed else None
    ours = run(lambda q, k, v: module(q, k, v, visibility), [q, k, v], seen)
    twin = run(
        lambda q, k, v: attend_with_mask(module.weights, q, k, v, attention_mask(q, k, visibility)),
        [q, k, v],
        seen,
    )
    for a, b in zip(ours, twin, strict=True):
        assert (a - b).abs().max() <= 1e-11


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("window", [0, 64])
def test_backward_drops_the_same_attention_weights_as_forward(core, window):
    torch.manual_seed(3)
    module = CORES[core](dropout=0.5).double()
    q, k, v = heads(307)
    y = module(q, k, v, Visibility(window=window))
    assert not torch.equal(y, module(q, k, v, Visibility(window=window)))
    weights = torch.randn_like(y)
    (gradient,) = torch.autograd.grad((y * weights).sum(), v)
    # The output is linear in the values, so its derivative along them is the output itself.
    assert torch.isclose((gradient * v).sum(), (y * weights).sum(), rtol=1e-10)


class Made(TorchDispatchMode):
    """Notes the size of the largest tensor that any operation makes, in numbers."""

    def __init__(self):
        super().__init__()
        self.largest = 0

    def __torch_dispatch__(self, func, _types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, Tensor):
                numbers = tensor.untyped_storage().nbytes() // tensor.element_size()
                self.largest = max(self.largest, numbers)
        return made


def memory(layer, length, kind):
    """Return the size of the largest tensor made, and of all that is kept for the backward pass."""
    kept = {}

    def keep(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    x = torch.randn(2, length, HEADS * D_K, requires_grad=True)
    ids = segments(kind, length)
    seen = None if ids is None else Segments(ids, is_packed=kind == "packed")
    with Made() as made:
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            y = layer(x, seen)
        y.sum().backward()
    return made.largest, sum(kept.values())


@pytest.mark.parametrize(
    "options",
    [{}, {"dropout": 0.1}, {"d_v": D_V}, {"compatibility": "additive"}],
    ids=["paper", "dropout", "widths", "additive"],
)
@pytest.mark.parametrize("kind", ["whole", "packed"])
@pytest.mark.parametrize("window", [0, 37])
def test_memory_grows_linearly_with_the_length(options, kind, window):
    attention = MultiHeadAttention(HEADS * D_K, HEADS, D_K, **{"d_v": D_K, **options})
    layer = SelfAttention(attention, causal=window == 0, window=window)
    short, long = (memory(layer, n, kind) for n in (263, 2 * 263))
    for before, after in zip(short, long, strict=True):
        assert after <= 2.2 * before


@pytest.mark.parametrize("window", [0, 20])
@torch.no_grad()
def test_step_by_step_equals_full_while_hypotheses_are_reordered(window):
    torch.manual_seed(5)
    model = Transformer(replace(SHAPE, window=window)).double().eval()
    source = torch.tensor([[5, 6, 7]])
    generator = torch.Generator().manual_seed(2)
    text = torch.empty(5, 0, dtype=torch.long)
    last, state = torch.full((5,), 40), model.start(model.encode(source))
    for length in range(1, 67):
        logits = model.step(last, state)
        last = torch.randint(2, 40, (len(last),), generator=generator)
        text = torch.cat((text, last[:, None]), 1)
        if length in (1, 4, 5, 6, 16, 17, 19, 20, 33, 64, 65, 66):
            assert (
                logits - model(source.expand(len(text), -1), text)[:, -1]
            ).abs().max() <= 1e-10, length
            rows = torch.randint(0, len(last), (6 if length == 17 else len(last),))
            text, last = text[rows], last[rows]
            state.reorder(rows)


@torch.no_grad()
def test_a_cache_with_a_window_holds_only_the_window():
    layer = SelfAttention(MultiHeadAttention(12, 3, 5, 7), causal=True, window=37)
    cache = Cache()
    for _ in range(100):
        layer.step(torch.randn(2, 1, 12), cache)
    shapes = [positions.storage_NHCK.shape for positions in cache.past]
    assert shapes == [(2, 3, 37, 5), (2, 3, 37, 7)]
