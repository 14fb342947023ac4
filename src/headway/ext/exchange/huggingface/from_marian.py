"""A Marian model's weights as those of a Headway model.

Shapes: D d_model, V vocabulary.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.ext.exchange.huggingface.names import (
    BIAS,
    EMBEDDINGS,
    OUTPUT,
    POSITIONS,
    SHARED,
    SIDES,
    headway_order,
    layer_weights,
)
from headway.ext.exchange.order import Order
from headway.ext.exchange.tables import are_sinusoids, tie_tables
from headway.model import sinusoids

PROJECTIONS = ("query", "key", "value", "output")
Shapes = dict[str, tuple[int, ...]]
Tables = tuple[Tensor, Tensor, Tensor]


def expected_shapes(config: ModelConfig) -> tuple[Shapes, Shapes]:
    """Return names and shapes of the weights that a Marian model must have, and may have."""
    width, inner = config.d_model, config.d_ff
    required: Shapes = {}
    for names in layer_weights(config):
        module, kind = names.theirs.split(".")[-2:]
        rows = inner if module == "fc1" else width
        columns = inner if module == "fc2" else width
        is_matrix = kind == "weight" and not module.endswith("norm")
        required[names.theirs] = (rows, columns) if is_matrix else (rows,)
    sizes = config.source_vocab_size, config.target_vocab_size
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
    tables = [_find_table(weights, names, file) for names in (source, target, output)]
    return tables[0], tables[1], tables[2]


def _find_table(weights: Mapping[str, Tensor], names: list[str], file: Path) -> Tensor:
    stored = [name for name in names if name in weights]
    if not stored:
        raise HeadwayError(f"{file}: {names[0]} is missing")
    for name in stored[1:]:
        if not torch.equal(weights[name], weights[stored[0]]):
            raise HeadwayError(
                f"{file}: {name} and {stored[0]} differ, config.json says they are one"
            )
    return weights[stored[0]]


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
    for names in layer_weights(config):
        value = weights[names.theirs]
        own[names.ours] = value if names.axis is None else value.index_select(names.axis, columns)
    biases = [name for name in own if name.split(".")[-2] in PROJECTIONS and name.endswith(".bias")]
    has_attention_bias = any(bool(own[name].any()) for name in biases)
    if not has_attention_bias:
        own = {name: value for name, value in own.items() if name not in biases}
    source, target, output = (
        table[torch.tensor(order.rows)][:, columns]
        for table, order in zip(tables, (*orders, orders[1]), strict=True)
    )
    source[-1] = target[-1]  # no source has <pad>, so one table may serve both sides
    tying, stored = tie_tables(source, target, output)
    own |= stored
    bias = (
        weights[BIAS].flatten()[torch.tensor(orders[1].rows)] if BIAS in weights else torch.zeros(1)
    )
    if bias.any():
        own["output.bias"] = bias
    positions, position_tables = _find_positions(config, weights)
    config = replace(
        config,
        attention_bias=has_attention_bias,
        output_bias=bool(bias.any()),
        tying=tying,
        positions=positions,
        source_vocab_size=len(source),
        target_vocab_size=len(target),
    )
    return config, own | position_tables


def _find_positions(
    config: ModelConfig, weights: Mapping[str, Tensor]
) -> tuple[Literal["sinusoidal", "learned", "none"], dict[str, Tensor]]:
    """Return the kind of positions, and the tables of learned ones; a missing table is sinusoids."""
    order = headway_order(config.d_model)
    tables = {
        f"{ours}_positions.table": weights[POSITIONS[side]][:, order]
        for ours, side in zip(("source", "target"), SIDES, strict=True)
        if POSITIONS[side] in weights
    }
    if all(are_sinusoids(table, 1e-5) for table in tables.values()):
        return "sinusoidal", {}
    if len(tables) == 2 and not any(table.any() for table in tables.values()):
        return "none", {}
    for ours in ("source", "target"):
        if f"{ours}_positions.table" not in tables:
            tables[f"{ours}_positions.table"] = sinusoids(config.max_positions, config.d_model)
    return "learned", tables
