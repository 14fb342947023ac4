"""Builds layers and stacks from the words of a configuration."""

from collections.abc import Callable
from typing import TYPE_CHECKING, get_args, get_type_hints

import torch
from torch import nn

from headway.config import ModelConfig
from headway.errors import HeadwayError, suggest
from headway.model.attention import MultiHeadAttention, SelfAttention
from headway.model.layers import FeedForward, Layer, Residual, Stack

if TYPE_CHECKING:
    from headway.model.mixers import Mixer

# Makes the mixer of the layer with this index, from 0.
MakeMixer = Callable[[int], "Mixer"]


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


def initialize_linear_maps(module: nn.Module) -> None:
    """Initialize every linear map as Glorot & Bengio (2010) do, biases with zero.

    The paper does not say how; the authors' code does so.
    """
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            if part.bias is not None:
                nn.init.zeros_(part.bias)


@torch.no_grad()
def zero_outputs(module: nn.Module) -> None:
    """Set the last matrix of each attention, convolution and feed-forward network to zero.

    Then the sub-layers add nothing at first, and the model begins with its embeddings alone; an LSTM or GRU has no
    such matrix, and adds something. The paper does not do this; it is usual for residual networks (Zhang et
    al., 2019, "Fixup Initialization").
    """
    from headway.model.mixers import Convolution

    for part in module.modules():
        if isinstance(part, MultiHeadAttention | Convolution):
            part.output.weight.zero_()
        elif isinstance(part, FeedForward):
            part.outer.weight.zero_()


def _make_named_mixer(config: ModelConfig, index: int, *, causal: bool) -> "Mixer":
    setting = "decoder_mixer" if causal else "encoder_mixer"
    match config.decoder_mixer if causal else config.encoder_mixer:
        case "attention":
            return SelfAttention(_make_heads(config), causal=causal, window=config.window)
        case "lstm" | "gru" as cell:
            from headway.model.mixers import Recurrent

            return Recurrent(config.d_model, cell, causal=causal)
        case "convolution" | "dilated" | "separable" as kind:
            from headway.model.mixers import Convolution

            return Convolution(
                config.d_model,
                config.kernel_size,
                # Each layer's taps are as far apart as the layer below reaches: log_k(n) layers.
                dilation=config.kernel_size**index if kind == "dilated" else 1,
                separable=kind == "separable",
                gated=config.gated,
                causal=causal,
            )
        case unknown:
            known = get_args(get_type_hints(ModelConfig)[setting])
            raise HeadwayError(
                f"model.{setting} = {unknown!r} is not one of {', '.join(known)}"
                f"{suggest(str(unknown), known)}; docs/own-layer.md has a mixer of your own"
            )


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
