"""The average of several checkpoints' weights (paper: section 6.1)."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from headway.errors import HeadwayError
from headway.training.storage.checkpoint import check_digest, read_tensors


def average_weights(files: Sequence[Path]) -> dict[str, Tensor]:
    """Average the weights of several safetensors files, in float64, one file at a time.

    Args:
        files: Files with tensors of the same names and shapes.

    Returns:
        Tensor name -> mean, in the data type of the first file.

    Raises:
        HeadwayError: If a file is damaged or changed, or its tensors differ from those of the first.
    """
    sums: dict[str, Tensor] = {}
    dtypes: dict[str, torch.dtype] = {}
    for file in files:
        check_digest(file)
        weights = read_tensors(file)
        if not sums:
            dtypes = {name: weight.dtype for name, weight in weights.items()}
            sums = {name: torch.zeros_like(w, dtype=torch.float64) for name, w in weights.items()}
        if {n: w.shape for n, w in weights.items()} != {n: s.shape for n, s in sums.items()}:
            raise HeadwayError(f"{file}: its weights have other names or shapes than {files[0]}'s")
        for name, weight in weights.items():
            sums[name] += weight
    return {name: (total / len(files)).to(dtypes[name]) for name, total in sums.items()}
