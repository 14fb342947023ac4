"""The position tables of a ``model.bin``: the paper's sinusoids, none, or learned positions.

Shapes: P positions, D d_model.
"""

from typing import Literal

import torch
from torch import Tensor

from headway.errors import HeadwayError
from headway.ext.exchange.ctranslate2.spec import MIN_POSITIONS
from headway.ext.exchange.ctranslate2.variables import Variables
from headway.ext.exchange.tables import are_sinusoids


def read_positions(
    variables: Variables, d_model: int
) -> tuple[Literal["sinusoidal", "learned", "none"], list[Tensor]]:
    """Return the kind of positions, and the tables of source and target, each [P, D].

    Any table that is neither the paper's sinusoids nor zeros counts as learned.

    Raises:
        HeadwayError: If a table has another width than the model.
    """
    names = [f"{side}/position_encodings/encodings" for side in ("encoder", "decoder")]
    stored = [variables.stored.get(name) for name in names]
    default = tensor2tensor_sinusoids(MIN_POSITIONS, d_model)
    tables = [variables.get_optional(name) for name in names]
    whole = [default if table is None else table for table in tables]
    if any(table.dim() != 2 or table.size(1) != d_model for table in whole):
        raise HeadwayError(f"{variables.file}: position tables must have {d_model} columns")
    rows = min(table.size(0) for table in whole)
    whole = [table[:rows] for table in whole]
    if not any(table.any() for table in whole):
        return "none", whole
    if d_model % 2 == 0 and all(
        # A table in 16 bits is compared with sinusoids in 16 bits.
        raw is not None and are_sinusoids(raw[:rows], 2e-6)
        for raw in stored
    ):
        return "sinusoidal", whole
    return "learned", whole


def tensor2tensor_sinusoids(length: int, d_model: int) -> Tensor:
    """Return the table that CTranslate2 uses if none is stored: all sines first, from position 1."""
    half = d_model // 2
    rate = 10000 ** (-torch.arange(half, dtype=torch.float64) / max(half - 1, 1))
    angle = torch.arange(1, length + 1, dtype=torch.float64)[:, None] * rate
    table = torch.cat((angle.sin(), angle.cos()), 1).float()
    return torch.nn.functional.pad(table, (0, d_model - 2 * half))
