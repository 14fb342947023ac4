"""A model's embeddings and output matrix: as three tables in other formats, each stored once in ours.

Shapes: V vocabulary, D d_model, E d_embedding, P positions.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Literal

import torch
from torch import Tensor

from headway.config import ModelConfig
from headway.ext.exchange.expressing import IMPOSSIBLE_LOGIT
from headway.ext.exchange.vocabulary_order import ADDED, Order
from headway.model import Transformer, sinusoids

NUMBERS_AT_ONCE = 1 << 20
Tables = tuple[Tensor, Tensor, Tensor]  # of source, target and output


def copy_tables(model: Transformer) -> Tables:
    """Return copies of a model's tables, each [V, D]; embeddings of another width than the model are multiplied out."""
    output, maps = model.output, []
    for embedding in (model.source_embedding, model.target_table):
        expand = None if embedding.expand is None else embedding.expand.weight.T
        maps.append((embedding.weight, expand))
    weight = model.target_table.weight if output.weight is None else output.weight
    maps.append((weight, None if output.reduce is None else output.reduce.weight))
    source, target, logits = (
        table.detach().cpu().clone()
        if factor is None
        else (table.detach().cpu().double() @ factor.detach().cpu().double()).float()
        for table, factor in maps
    )
    return source, target, logits


def store_tables(
    config: ModelConfig,
    tables: Tables,
    bias: Tensor | None,
    orders: tuple[Order, Order],
    start_row: int = ADDED,
) -> tuple[ModelConfig, dict[str, Tensor]]:
    """Put the rows of the three tables in Headway's order, and store equal ones once.

    Args:
        config: The other settings.
        tables: The embeddings of source and target and the output matrix, with the original rows.
        bias: Of the logits, [V]; None: there is none.
        orders: Of source and target.
        start_row: The original row from which the decoder starts, if its entry is added; `ADDED` for the zero vector.

    Returns:
        The settings, completed, and the weights; an added entry is never generated.
    """
    source, target, output = tables
    is_tied = torch.equal(target, output)
    is_shared = is_tied and orders[0] == orders[1] and torch.equal(source, target)
    tying: Literal["three-way", "target", "none"]
    tying = "three-way" if is_shared else "target" if is_tied else "none"
    stored = {"source_embedding.weight": (source, orders[0])}
    if not is_shared:
        stored["target_embedding.weight"] = target, orders[1]
    if not is_tied:
        stored["output.weight"] = output, orders[1]
    weights = {name: table[torch.tensor(order.rows)] for name, (table, order) in stored.items()}
    for name, (table, order) in stored.items():
        if order.rows[-1] == ADDED:
            is_read = name == "target_embedding.weight" or is_shared
            weights[name][-1] = table[start_row] if is_read and start_row != ADDED else 0
    rows, is_added = torch.tensor(orders[1].rows), orders[1].rows[-1] == ADDED
    if bias is not None or is_added:
        bias = torch.zeros(len(target))[rows] if bias is None else bias[rows]
        if is_added:
            bias[-1] = IMPOSSIBLE_LOGIT
        weights["output.bias"] = bias
    config = replace(
        config,
        source_vocab_size=len(orders[0].names),
        target_vocab_size=len(orders[1].names),
        tying=tying,
        output_bias=bias is not None,
    )
    return config, weights


def find_positions(
    tables: Sequence[Tensor], tolerance: float
) -> tuple[Literal["sinusoidal", "learned", "none"], dict[str, Tensor]]:
    """Return the kind of positions of source and target, and the tables that a Headway model stores.

    Args:
        tables: A table [P, D] for each; one that is neither the paper's sinusoids nor zeros counts as learned.
        tolerance: The largest difference from the paper's sinusoids.
    """
    if all(are_sinusoids(table, tolerance) for table in tables):
        return "sinusoidal", {}
    if not any(table.any() for table in tables):
        return "none", {}
    names = ("source_positions.table", "target_positions.table")
    return "learned", {name: table.float() for name, table in zip(names, tables, strict=True)}


def are_sinusoids(table_PD: Tensor, tolerance: float) -> bool:
    """Return whether a table of positions holds the paper's sinusoids, in the table's precision.

    A part of the sinusoids is computed at a time: in float64 they take more memory than the table.
    """
    parts = table_PD.split(max(1, NUMBERS_AT_ONCE // table_PD.size(1)))
    starts = accumulate(map(len, parts), initial=0)
    return table_PD.size(1) % 2 == 0 and all(
        torch.allclose(
            sinusoids(len(part), part.size(1), start).to(part.dtype), part, rtol=0, atol=tolerance
        )
        for start, part in zip(starts, parts, strict=False)
    )
