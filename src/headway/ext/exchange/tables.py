"""A model's embeddings and output matrix: as three tables in other formats, each stored once in ours.

Shapes: V vocabulary, D d_model, E d_embedding, P positions.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

import torch
from torch import Tensor

from headway.model import Embedding, Transformer, sinusoids

NUMBERS_AT_ONCE = 1 << 20


def embedding_table(embedding: Embedding) -> Tensor:
    """Return a copy of an embedding, [V, D]; an embedding of another width is multiplied out."""
    if embedding.expand is None:
        return _copy(embedding.weight)
    return _multiply(embedding.weight, embedding.expand.weight.T)


def output_table(model: Transformer) -> Tensor:
    """Return a copy of the matrix that maps hidden states to logits, [V, D]."""
    output = model.output
    weight = model.target_table.weight if output.weight is None else output.weight
    return _copy(weight) if output.reduce is None else _multiply(weight, output.reduce.weight)


def tie_tables(
    source: Tensor, target: Tensor, output: Tensor
) -> tuple[Literal["three-way", "target", "none"], dict[str, Tensor]]:
    """Return which of three tables [V, D] are equal, and the tables that a Headway model stores."""
    if not torch.equal(target, output):
        return "none", {
            "source_embedding.weight": source,
            "target_embedding.weight": target,
            "output.weight": output,
        }
    if not torch.equal(source, target):
        return "target", {"source_embedding.weight": source, "target_embedding.weight": target}
    return "three-way", {"source_embedding.weight": source}


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


def _copy(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().clone()


def _multiply(table_VE: Tensor, map_ED: Tensor) -> Tensor:
    return (table_VE.detach().cpu().double() @ map_ED.detach().cpu().double()).float()
