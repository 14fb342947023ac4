"""A model's embeddings and output matrix, for formats that have one matrix for each.

Shapes: V vocabulary, D d_model, E d_embedding.
"""

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


def _copy(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().clone()


def _multiply(table_VE: Tensor, map_ED: Tensor) -> Tensor:
    return (table_VE.detach().cpu().double() @ map_ED.detach().cpu().double()).float()
