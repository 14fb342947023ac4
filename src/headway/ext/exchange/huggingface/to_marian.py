"""A Headway model's weights as those of a Marian model.

Shapes: V vocabulary, D d_model.
"""

import torch
from torch import Tensor

from headway.config import ModelConfig
from headway.ext.exchange.huggingface.names import (
    BIAS,
    EMBEDDINGS,
    NORM_EPSILON,
    OUTPUT,
    POSITIONS,
    SHARED,
    SIDES,
    layer_weights,
    marian_order,
)
from headway.ext.exchange.refusals import find_other_attention
from headway.ext.exchange.shared_values import IMPOSSIBLE_LOGIT
from headway.ext.exchange.tables import embedding_table, output_table
from headway.model import Transformer


def find_refusals(config: ModelConfig) -> list[str]:
    """Return the reasons why Marian cannot express a model exactly; none: it can."""
    d_model, heads = config.d_model, config.num_heads
    head_width = d_model // heads
    reasons = find_other_attention(config)
    if config.norm != "post":
        reasons.append(f"norm = '{config.norm}': its layers normalize after the sum")
    if config.norm_epsilon != NORM_EPSILON:
        reasons.append(f"norm_epsilon = {config.norm_epsilon:g}: its is {NORM_EPSILON:g}")
    if d_model % heads or set(config.head_widths) != {head_width}:
        reasons.append("d_k or d_v: its heads are d_model / num_heads wide")
    if config.scale_logits and config.num_decoder_layers == 0:
        reasons.append("num_decoder_layers = 0 with scale_logits: no norm to put the scale in")
    return reasons


@torch.no_grad()
def to_marian(model: Transformer, size: int) -> dict[str, Tensor]:
    """Return a model's weights under Marian's names, in Marian's order of columns.

    Args:
        model: A model that `find_refusals` accepts.
        size: The size of both vocabularies, at least V; ``<pad>`` becomes the last entry.
    """
    config = model.config
    own = {name: tensor.detach().float().cpu() for name, tensor in model.state_dict().items()}
    order = marian_order(config.d_model)
    weights: dict[str, Tensor] = {}
    for names in layer_weights(config):
        value = own.get(names.ours)
        if value is None:  # attention without biases
            value = torch.zeros(config.d_model)
        if not config.scale_attention and ".q_proj." in names.theirs:
            value = value * (config.d_model // config.num_heads) ** 0.5
        if names.axis is not None:
            value = value.index_select(names.axis, order)
        weights[names.theirs] = value
    if config.scale_logits:  # only the logits read what the last norm writes
        for name in ("weight", "bias"):
            last = f"model.decoder.layers.{config.num_decoder_layers - 1}.final_layer_norm.{name}"
            weights[last] = weights[last] * config.d_model**-0.5
    source, target, output = (
        add_rows(table[:, order], size)
        for table in (
            embedding_table(model.source_embedding),
            embedding_table(model.target_table),
            output_table(model),
        )
    )
    if is_shared(config):
        weights[SHARED] = source
    else:
        weights |= {EMBEDDINGS["encoder"]: source, EMBEDDINGS["decoder"]: target}
    if not is_tied(config):
        weights[OUTPUT] = output
    bias = own.get("output.bias", torch.zeros(config.target_vocab_size))[:, None]
    weights[BIAS] = add_rows(bias, size, IMPOSSIBLE_LOGIT).T
    if config.positions != "sinusoidal":
        zeros = torch.zeros(config.max_positions, config.d_model)
        for side, name in zip(SIDES, ("source_positions", "target_positions"), strict=True):
            weights[POSITIONS[side]] = own.get(f"{name}.table", zeros)[:, order]
    return {name: tensor.contiguous() for name, tensor in weights.items()}


def is_tied(config: ModelConfig) -> bool:
    """Whether the decoder's embedding is Marian's output matrix, too."""
    return config.tying != "none" and config.d_embedding in (0, config.d_model)


def is_shared(config: ModelConfig) -> bool:
    """Whether Marian has one embedding for both sides."""
    return is_tied(config) and config.tying == "three-way"


def add_rows(table: Tensor, size: int, fill: float = 0.0) -> Tensor:
    """Add rows before the last row, which is that of ``<pad>``.

    Args:
        table: One row for each entry.
        size: The number of rows of the result.
        fill: The value of the added rows.
    """
    added = table.new_full((size - len(table), table.size(1)), fill)
    return torch.cat((table[:-1], added, table[-1:]))
