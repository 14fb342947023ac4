"""The weights of a Marian model in transformers, beside Headway's, and in both directions.

Both models are the paper's. Marian has all sines before all cosines where Headway alternates them, as
the paper prints them. So the columns of the model's width have another order, in every weight that reads
or writes them. Layer norm and products do not depend on that order: the results are the same.

Shapes: D d_model, V vocabulary.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.ext.exchange.expressing import IMPOSSIBLE_LOGIT
from headway.ext.exchange.parts import list_parts
from headway.ext.exchange.tables import (
    Tables,
    copy_tables,
    find_positions,
    store_tables,
)
from headway.ext.exchange.vocabulary_order import Order
from headway.model import Transformer, make_model_without_memory, sinusoids

SIDES = ("encoder", "decoder")
SHARED = "model.shared.weight"
OUTPUT = "lm_head.weight"
BIAS = "final_logits_bias"
EMBEDDINGS = {side: f"model.{side}.embed_tokens.weight" for side in SIDES}
POSITIONS = {side: f"model.{side}.embed_positions.weight" for side in SIDES}
NORM_EPSILON = 1e-5  # of every layer norm of a Marian model


Shapes = dict[str, tuple[int, ...]]
PROJECTIONS = ("query", "key", "value", "output")


def marian_order(d_model: int) -> Tensor:
    """Return Headway's column for each column of Marian: the even ones first, then the odd ones."""
    columns = torch.arange(d_model)
    return torch.cat((columns[0::2], columns[1::2]))


def headway_order(d_model: int) -> Tensor:
    """Return Marian's column for each column of Headway."""
    return marian_order(d_model).argsort()


def layer_weights(config: ModelConfig) -> Iterator[tuple[str, str, int | None]]:
    """Yield the name in Headway, the name in Marian, and the axis of the model's width (None: there is none) of each weight of a layer."""
    for part in list_parts(config):
        for ours, theirs in zip(part.ours, part.marian, strict=True):
            is_output = not ours.endswith((".query", ".key", ".value", ".inner"))
            yield f"{ours}.weight", f"{theirs}.weight", 0 if is_output else 1
            yield f"{ours}.bias", f"{theirs}.bias", 0 if is_output else None


@torch.no_grad()
def to_marian(model: Transformer, size: int) -> dict[str, Tensor]:
    """Return a model's weights under Marian's names, in Marian's order of columns.

    Args:
        model: A model that `headway.ext.exchange.huggingface.writer.find_refusals` accepts.
        size: The size of both vocabularies, at least V; ``<pad>`` becomes the last entry.
    """
    config = model.config
    own = {name: tensor.detach().float().cpu() for name, tensor in model.state_dict().items()}
    order = marian_order(config.d_model)
    weights: dict[str, Tensor] = {}
    for ours, theirs, axis in layer_weights(config):
        value = own.get(ours)
        if value is None:  # attention without biases
            value = torch.zeros(config.d_model)
        if not config.scale_attention and ".q_proj." in theirs:
            value = value * (config.d_model // config.num_heads) ** 0.5
        weights[theirs] = value if axis is None else value.index_select(axis, order)
    if config.scale_logits:  # only the logits read what the last norm writes
        for name in ("weight", "bias"):
            last = f"model.decoder.layers.{config.num_decoder_layers - 1}.final_layer_norm.{name}"
            weights[last] = weights[last] * config.d_model**-0.5
    source, target, output = (add_rows(table[:, order], size) for table in copy_tables(model))
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


def expected_shapes(config: ModelConfig) -> tuple[Shapes, Shapes]:
    """Return names and shapes of the weights that a Marian model must have, and may have."""
    width, sizes = config.d_model, (config.source_vocab_size, config.target_vocab_size)
    state = make_model_without_memory(replace(config, attention_bias=True)).state_dict()
    required = {theirs: tuple(state[ours].shape) for ours, theirs, _ in layer_weights(config)}
    optional: Shapes = {
        SHARED: (sizes[0], width),
        OUTPUT: (sizes[1], width),
        BIAS: (1, sizes[1]),
    }
    for side, size in zip(SIDES, sizes, strict=True):
        optional[EMBEDDINGS[side]] = (size, width)
        optional[POSITIONS[side]] = (config.max_positions, width)
    return required, optional


def find_tables(
    weights: Mapping[str, Tensor], *, is_shared: bool, is_tied: bool, file: Path
) -> Tables:
    """Return the embeddings of source and target and the output matrix, each [V, D].

    A matrix with several uses may be in the file under any of its names, or under all.

    Args:
        weights: The weights by Marian's names.
        is_shared: Whether both sides have one embedding.
        is_tied: Whether the output matrix is the decoder's embedding.
        file: The file of the weights, for messages.

    Raises:
        HeadwayError: If a matrix is missing, or two differ that should be one.
    """
    source, target, output = [EMBEDDINGS["encoder"]], [EMBEDDINGS["decoder"]], [OUTPUT]
    if is_shared:
        source = target = [SHARED, *source, *target]
    if is_tied:
        target = output = target + output
        source = target if is_shared else source
    tables = []
    for names in (source, target, output):
        stored = [name for name in names if name in weights]
        if not stored:
            raise HeadwayError(f"{file}: {names[0]} is missing")
        for name in stored[1:]:
            if not torch.equal(weights[name], weights[stored[0]]):
                raise HeadwayError(
                    f"{file}: {name} and {stored[0]} differ, config.json says they are one"
                )
        tables.append(weights[stored[0]])
    return tables[0], tables[1], tables[2]


def from_marian(
    config: ModelConfig,
    weights: Mapping[str, Tensor],
    tables: Tables,
    orders: tuple[Order, Order],
) -> tuple[ModelConfig, dict[str, Tensor]]:
    """Convert Marian weights into those of a Headway model.

    Args:
        config: The settings that config.json shows.
        weights: The weights by Marian's names, of the `expected_shapes`.
        tables: The result of `find_tables`.
        orders: Of source and target.

    Returns:
        The settings, completed by what the weights show, and the weights.
    """
    columns = headway_order(config.d_model)
    own: dict[str, Tensor] = {}
    for ours, theirs, axis in layer_weights(config):
        value = weights[theirs]
        own[ours] = value if axis is None else value.index_select(axis, columns)
    biases = [name for name in own if name.split(".")[-2] in PROJECTIONS and name.endswith(".bias")]
    has_attention_bias = any(bool(own[name].any()) for name in biases)
    if not has_attention_bias:
        own = {name: value for name, value in own.items() if name not in biases}
    bias = weights[BIAS].flatten() if BIAS in weights else torch.zeros(1)
    config, stored = store_tables(config, tables, bias if bias.any() else None, orders)
    for name, value in stored.items():
        own[name] = value if value.dim() == 1 else value[:, columns]
    is_stored = not weights.keys().isdisjoint(POSITIONS.values())
    position_tables = [
        weights[place][:, columns]
        if place in weights  # a table that is missing is that of sinusoids
        else sinusoids(config.max_positions, config.d_model)
        for place in POSITIONS.values()
        if is_stored
    ]
    positions, learned = find_positions(position_tables, 1e-5)
    config = replace(config, attention_bias=has_attention_bias, positions=positions)
    return config, own | learned
