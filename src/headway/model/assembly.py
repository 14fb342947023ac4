"""Builds layers and stacks from the words of a configuration."""

from collections.abc import Callable

from torch import nn

from headway.config import ModelConfig
from headway.extension import require
from headway.model.attention import MultiHeadAttention, SelfAttention
from headway.model.layers import FeedForward, Layer, Mixer, Residual, Stack

# Makes the mixer of the layer with this index, from 0.
MakeMixer = Callable[[int], Mixer]


def make_encoder(config: ModelConfig, make_mixer: MakeMixer | None = None) -> Stack:
    """Build a stack whose positions see each other."""
    layers = [
        make_layer(config, index, causal=False, cross=False, make_mixer=make_mixer)
        for index in range(config.num_encoder_layers)
    ]
    return _finish_stack(config, layers)


def make_decoder(config: ModelConfig, make_mixer: MakeMixer | None = None, *, cross: bool) -> Stack:
    """Build a stack whose positions see no later one; ``cross``: it attends to a memory too."""
    layers = [
        make_layer(config, index, causal=True, cross=cross, make_mixer=make_mixer)
        for index in range(config.num_decoder_layers)
    ]
    return _finish_stack(config, layers)


def _finish_stack(config: ModelConfig, layers: list[Layer]) -> Stack:
    norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon) if config.norm == "pre" else None
    return Stack(layers, norm)


def make_layer(
    config: ModelConfig,
    index: int,
    *,
    causal: bool,
    cross: bool,
    make_mixer: MakeMixer | None = None,
) -> Layer:
    """Build the ``index``-th layer of a stack, from 0.

    Args:
        config: The model's shape.
        index: Of the layer.
        causal: A decoder's layer: no position reads a later one.
        cross: With encoder-decoder attention.
        make_mixer: Makes the mixer; None: the one that the configuration names.

    Raises:
        HeadwayError: If the configuration names a mixer that does not exist.
    """
    mixer = make_mixer(index) if make_mixer else _make_named_mixer(config, index, causal=causal)
    feed_forward = FeedForward(
        config.d_model,
        config.d_ff,
        activation=config.activation,
        dropout=config.feed_forward_dropout,
        convolution=config.feed_forward == "convolution",
    )
    residuals = [
        Residual(
            config.d_model, norm=config.norm, dropout=config.dropout, epsilon=config.norm_epsilon
        )
        for _ in range(3 if cross else 2)
    ]
    return Layer(mixer, _make_heads(config) if cross else None, feed_forward, residuals)


def _make_named_mixer(config: ModelConfig, index: int, *, causal: bool) -> Mixer:
    setting = "decoder_mixer" if causal else "encoder_mixer"
    name = config.decoder_mixer if causal else config.encoder_mixer
    if name == "attention":
        return SelfAttention(_make_heads(config), causal=causal, window=config.window)
    make: Callable[..., Mixer] = require(f"model.{setting} = {name!r}", "mixers", name)
    return make(config, index, causal=causal)


def _make_heads(config: ModelConfig) -> MultiHeadAttention:
    d_k, d_v = config.head_widths
    return MultiHeadAttention(
        config.d_model,
        config.num_heads,
        d_k,
        d_v,
        bias=config.attention_bias,
        dropout=config.attention_dropout,
        compatibility=config.compatibility,
        scaled=config.scale_attention,
    )
