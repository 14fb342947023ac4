"""Layers of torch with random weights, and ours with the same."""

import torch


def copy_linear(ours, weight, bias):
    """Give a linear map a weight and a bias."""
    ours.weight.copy_(weight)
    ours.bias.copy_(bias)


def copy_attention(ours, theirs):
    """Give attention the maps of torch's, which holds those of queries, keys and values in one matrix."""
    parts = zip(theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True)
    for name, (weight, bias) in zip(("query", "key", "value"), parts, strict=True):
        copy_linear(getattr(ours, name), weight, bias)
    copy_linear(ours.output, theirs.out_proj.weight, theirs.out_proj.bias)


@torch.no_grad()
def copy_layer(ours, theirs):
    """Give a layer of torch random weights, and ours the same."""
    for parameter in theirs.parameters():  # torch starts norms at 1 and biases at 0: no test
        parameter.copy_(torch.randn_like(parameter) * 0.3)
    copy_attention(ours.mixer.attention, theirs.self_attn)
    if ours.cross is not None:
        copy_attention(ours.cross, theirs.multihead_attn)
    copy_linear(ours.feed_forward.inner, theirs.linear1.weight, theirs.linear1.bias)
    copy_linear(ours.feed_forward.outer, theirs.linear2.weight, theirs.linear2.bias)
    norms = [theirs.norm1, theirs.norm2] + ([theirs.norm3] if ours.cross is not None else [])
    for residual, norm in zip(ours.residuals, norms, strict=True):
        residual.norm.weight.copy_(norm.weight)
        residual.norm.bias.copy_(norm.bias)
