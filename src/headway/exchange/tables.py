"""A model's embeddings and output matrix: as three tables in other formats, each stored once in ours.

Shapes: V vocabulary, D d_model, E d_embedding.
"""

from typing import Literal

import torch
from torch import Tensor

from headway.model import Transformer
from headway.model.embeddings import Embedding


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


def _copy(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().clone()


def _multiply(table_VE: Tensor, map_ED: Tensor) -> Tensor:
    return (table_VE.detach().cpu().double() @ map_ED.detach().cpu().double()).float()
