"""Position encodings: sinusoids, a learned table, or nothing.

Shapes: B batch, T positions, D d_model. Paper: sections 3.5 and 5.4.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.model.ops import Dropout
from headway.model.visibility import Segments

# The first size of a table of sinusoids, at most; longer input extends it.
FIRST_ROWS, FIRST_NUMBERS = 1024, 1 << 21


def sinusoids(length: int, d_model: int, start: int = 0) -> Tensor:
    """Tabulate PE(pos, 2i) = sin(pos / 10000^(2i/d_model)) and PE(pos, 2i+1), the cosine.

    Sines and cosines alternate, as the paper prints it; its own code had all sines first.
    Paper: section 3.5.

    Args:
        length: Number of positions.
        d_model: D.
        start: The first position.

    Returns:
        [length, d_model], computed in float64 and rounded to float32 once.
    """
    position = torch.arange(start, start + length, dtype=torch.float64)[:, None]
    rate = 10000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position * rate
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1).float()


class Positions(nn.Module):
    """Adds position encodings (sinusoids, a learned table, or nothing), then applies dropout to the sums.

    Paper: sections 3.5 and 5.4.

    Args:
        kind: One of the three.
        d_model: D.
        max_positions: Rows of the table; sinusoids are extended for longer input.
        dropout: On the sums of embeddings and encodings.
    """

    table: Tensor

    def __init__(
        self,
        kind: Literal["sinusoidal", "learned", "none"],
        d_model: int,
        max_positions: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.kind = kind
        self.dropout = Dropout(dropout)
        if kind == "learned":
            self.table = nn.Parameter(torch.empty(max_positions, d_model))
            nn.init.normal_(self.table, std=d_model**-0.5)
        elif kind == "sinusoidal":
            # Tabulated at the first use; the size that a configuration asks for costs no memory.
            self.register_buffer("table", torch.empty(0, d_model), persistent=False)
            self.first_rows = min(max_positions, FIRST_ROWS, 1 + FIRST_NUMBERS // d_model)
        elif kind != "none":
            raise HeadwayError(f"model.positions = {kind!r}: no such encoding")

    def forward(self, x_BTD: Tensor, segments: Segments | None = None, start: int = 0) -> Tensor:
        """Turn embeddings [B, T, D] into the input of a stack, [B, T, D].

        Args:
            x_BTD: Embeddings of the tokens at positions start, start + 1, ...
            segments: With segments, each sentence of a row starts from position 0.
            start: Position of the first token.

        Raises:
            HeadwayError: If a learned table has too few rows.
        """
        return self.dropout(x_BTD if self.kind == "none" else self._add(x_BTD, segments, start))

    def _add(self, x_BTD: Tensor, segments: Segments | None, start: int) -> Tensor:
        end = start + x_BTD.size(1)
        if segments is None:
            return x_BTD + self.table_of(end)[start:end]
        position_BT = segments.positions()
        table = self.table
        if segments.packing is not None:  # no number needs to be read from the device
            return x_BTD + F.embedding(position_BT, self.table_of(segments.packing.longest))
        if self.kind == "sinusoidal" and table.size(0) < end <= self.first_rows:
            table = self.table_of(end)
        elif end > table.size(0):  # a packed row may be longer than any of its sentences
            table = self.table_of(int(position_BT.max()) + 1)
        return x_BTD + F.embedding(position_BT, table)

    def table_of(self, length: int) -> Tensor:
        """Return a table of at least ``length`` rows; several threads may call this at once.

        Raises:
            HeadwayError: If a learned table has too few rows.
        """
        table = self.table
        if length <= table.size(0):
            return table
        if self.kind == "learned":
            raise HeadwayError(
                f"{length} positions, but model.max_positions = {table.size(0)} were learned"
            )
        with torch.inference_mode(False):  # training may use the table later
            table = sinusoids(max(2 * length, self.first_rows), table.size(1)).to(table)
        if table.size(0) > self.table.size(0):
            self.table = table
        return table


def make_positions(config: ModelConfig) -> Positions:
    """Make the position encodings of a stack's input, with the dropout on the sums."""
    return Positions(config.positions, config.d_model, config.max_positions, config.dropout)
