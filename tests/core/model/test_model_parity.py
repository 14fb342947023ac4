"""Ours equals torch's own layers, forward and backward, in float64 and float32."""

import pytest
import torch
from torch import nn

from headway.config import ModelConfig
from headway.model import Segments
from headway.model.assembly import make_decoder, make_encoder
from support.torch_layers import copy_layer

B, S, T, D, HEADS, F = 3, 11, 7, 20, 5, 37
TOLERANCE = {torch.float64: (1e-12, 1e-11), torch.float32: (1e-5, 1e-5)}


def stacks(norm, layers, cross, dtype):
    config = ModelConfig(
        d_model=D, num_heads=HEADS, d_ff=F, norm=norm, dropout=0.0, attention_bias=True,
        num_encoder_layers=layers, num_decoder_layers=layers,
    )  # fmt: skip
    ours = (make_decoder(config, cross=True) if cross else make_encoder(config)).to(dtype)
    kind = nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer
    layer = kind(D, HEADS, F, 0.0, batch_first=True, norm_first=norm == "pre", dtype=dtype)
    if cross:
        theirs = nn.TransformerDecoder(layer, layers)
    else:
        theirs = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
    if (
        norm == "pre"
    ):  # torch's Transformer has this final norm after post-norm stacks too; we do not
        theirs.norm = nn.LayerNorm(D, dtype=dtype)
        with torch.no_grad():
            ours.final_norm.weight.copy_(theirs.norm.weight.normal_())
            ours.final_norm.bias.copy_(theirs.norm.bias.normal_())
    for a, b in zip(ours.layers, theirs.layers, strict=True):
        copy_layer(a, b)
    return ours, theirs


def assert_same(ours, theirs, tolerance):
    assert ours.shape == theirs.shape
    assert (ours - theirs).abs().max() <= tolerance * max(1.0, theirs.abs().max().item())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("cross", [False, True])
def test_a_stack_equals_torchs_own(norm, cross, dtype):
    torch.manual_seed(3)
    ours, theirs = stacks(norm, 3, cross, dtype)
    memory_segments = torch.ones(B, S, dtype=torch.long)
    memory_segments[0, 4:] = 0
    memory_segments[2, 9:] = 0
    hidden = memory_segments == 0
    memory = torch.randn(B, S, D, dtype=dtype, requires_grad=True)
    theirs_memory = memory.detach().clone().requires_grad_()
    if cross:
        x = torch.randn(B, T, D, dtype=dtype)
        mask = torch.ones(T, T).triu(1).bool()
        y = ours(x, None, memory, Segments(memory_segments, is_packed=False))
        z = theirs(x, theirs_memory, tgt_mask=mask, memory_key_padding_mask=hidden)
        real = torch.ones(B, T, dtype=torch.bool)
    else:
        y = ours(memory, Segments(memory_segments, is_packed=False))
        z = theirs(theirs_memory, src_key_padding_mask=hidden)
        real = ~hidden
    forward, backward = TOLERANCE[dtype]
    assert_same(y[real], z[real], forward)
    weights = torch.randn_like(z[real])
    (y[real] * weights).sum().backward()
    (z[real] * weights).sum().backward()
    assert_same(memory.grad, theirs_memory.grad, backward)
    for a, b in zip(ours.layers, theirs.layers, strict=True):
        pairs = [
            (a.feed_forward.inner.weight, b.linear1.weight),
            (a.feed_forward.outer.bias, b.linear2.bias),
            (a.mixer.attention.output.weight, b.self_attn.out_proj.weight),
            (a.residuals[0].norm.weight, b.norm1.weight),
            (a.residuals[-1].norm.bias, (b.norm3 if cross else b.norm2).bias),
        ]
        for mine, other in pairs:
            assert_same(mine.grad, other.grad, backward)
        cores = [(a.mixer.attention, b.self_attn)] + (
            [(a.cross, b.multihead_attn)] if cross else []
        )
        for mine, other in cores:
            joined = torch.cat(
                [mine.query.weight.grad, mine.key.weight.grad, mine.value.weight.grad]
            )
            assert_same(joined, other.in_proj_weight.grad, backward)
            joined = torch.cat([mine.query.bias.grad, mine.key.bias.grad, mine.value.bias.grad])
            assert_same(joined, other.in_proj_bias.grad, backward)
