"""The names of a Marian model's weights in transformers, beside Headway's.

Both models are the paper's. Marian has all sines before all cosines where Headway alternates them, as
the paper prints them. So the columns of the model's width have another order, in every weight that reads
or writes them. Layer norm and products do not depend on that order: the results are the same.

Shapes: D d_model.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from headway.config import ModelConfig

SIDES = ("encoder", "decoder")
SHARED = "model.shared.weight"
OUTPUT = "lm_head.weight"
BIAS = "final_logits_bias"
EMBEDDINGS = {side: f"model.{side}.embed_tokens.weight" for side in SIDES}
POSITIONS = {side: f"model.{side}.embed_positions.weight" for side in SIDES}
NORM_EPSILON = 1e-5  # of every layer norm of a Marian model


class WeightNames(NamedTuple):
    """A weight of a layer by both its names.

    Attributes:
        ours: Name in a Headway model.
        theirs: Name in a Marian model.
        axis: The axis of the model's width; None if no axis is.
    """

    ours: str
    theirs: str
    axis: int | None


def marian_order(d_model: int) -> Tensor:
    """Return Headway's column for each column of Marian: the even ones first, then the odd ones."""
    columns = torch.arange(d_model)
    return torch.cat((columns[0::2], columns[1::2]))


def headway_order(d_model: int) -> Tensor:
    """Return Marian's column for each column of Headway."""
    return marian_order(d_model).argsort()


def layer_weights(config: ModelConfig) -> Iterator[WeightNames]:
    """Yield the names of the weights of all layers, encoder first."""
    for side, count in zip(
        SIDES, (config.num_encoder_layers, config.num_decoder_layers), strict=True
    ):
        for number in range(count):
            yield from _layer(side, number)


def _layer(side: str, number: int) -> Iterator[WeightNames]:
    ours, theirs = f"{side}.layers.{number}.", f"model.{side}.layers.{number}."
    blocks = {"mixer.attention": "self_attn"}
    if side == "decoder":
        blocks["cross"] = "encoder_attn"
    for place, (block, other) in enumerate(blocks.items()):
        for name in ("query", "key", "value"):
            yield from _weight_and_bias(
                f"{ours}{block}.{name}", f"{theirs}{other}.{name[0]}_proj", (1, None)
            )
        yield from _weight_and_bias(f"{ours}{block}.output", f"{theirs}{other}.out_proj", (0, 0))
        norm = f"{ours}residuals.{place}.norm"
        yield from _weight_and_bias(norm, f"{theirs}{other}_layer_norm", (0, 0))
    yield from _weight_and_bias(f"{ours}feed_forward.inner", f"{theirs}fc1", (1, None))
    yield from _weight_and_bias(f"{ours}feed_forward.outer", f"{theirs}fc2", (0, 0))
    norm = f"{ours}residuals.{len(blocks)}.norm"
    yield from _weight_and_bias(norm, f"{theirs}final_layer_norm", (0, 0))


def _weight_and_bias(ours: str, theirs: str, axes: tuple[int, int | None]) -> Iterator[WeightNames]:
    for name, axis in zip(("weight", "bias"), axes, strict=True):
        yield WeightNames(f"{ours}.{name}", f"{theirs}.{name}", axis)
