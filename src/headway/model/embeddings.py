"""What a stack is fed: token embeddings, and what tells positions apart.

Shapes: B batch, T positions, D d_model, E d_embedding. Paper: sections 3.4 and 3.5.
"""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.errors import HeadwayError
from headway.kernels.linear import Linear
from headway.model.mixers import positions_in_segments

FIRST_ROWS = 1024  # of a table of sinusoids, at most; longer input extends it


class Embedding(nn.Module):
    """Token embeddings, multiplied by ``scale``; the last row, ``<pad>``'s, is always zero.

    The decoder starts from that zero vector. A tied matrix gets gradients from the softmax too, so
    the row's gradient is cleared where it arises, which keeps the row zero under any optimizer.
    Paper: section 3.4.

    Args:
        vocab_size: Rows, ``<pad>`` included.
        d_embedding: Width E of a row.
        d_model: Width D of what comes out; another width than E goes through a linear map.
        scale: Multiplies the rows; the paper's is sqrt(d_model).
    """

    def __init__(self, vocab_size: int, d_embedding: int, d_model: int, *, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(torch.empty(vocab_size, d_embedding))
        nn.init.normal_(self.weight, std=d_embedding**-0.5)
        with torch.no_grad():
            self.weight[-1] = 0
        self._keep_pad_zero()
        self.expand = None if d_embedding == d_model else Linear(d_embedding, d_model, bias=False)

    def _keep_pad_zero(self) -> None:
        if not self.weight._post_accumulate_grad_hooks:
            self.weight.register_post_accumulate_grad_hook(_clear_pad)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._keep_pad_zero()  # a copied parameter comes without its hooks

    def _load_from_state_dict(self, *args: Any) -> None:
        super()._load_from_state_dict(*args)
        self._keep_pad_zero()  # so does one that was assigned

    def forward(self, tokens: Tensor) -> Tensor:
        """Look up [...] tokens as [..., D] vectors."""
        rows = F.embedding(tokens, self.weight) * self.scale
        return rows if self.expand is None else self.expand(rows)


def _clear_pad(weight: Tensor) -> None:
    if weight.grad is not None:
        weight.grad[-1] = 0


def sinusoids(length: int, d_model: int) -> Tensor:
    """Tabulate PE(pos, 2i) = sin(pos / 10000^(2i/d_model)) and PE(pos, 2i+1), the cosine.

    Sines and cosines alternate, as the paper prints it; its own code had all sines first.
    Paper: section 3.5.

    Returns:
        [length, d_model], computed in float64 and rounded to float32 once.
    """
    position = torch.arange(length, dtype=torch.float64)[:, None]
    rate = 10000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position * rate
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1).float()


class Positions(nn.Module):
    """Adds what tells positions apart: sinusoids, a learned table, or nothing.

    Args:
        kind: Which of the three.
        d_model: D.
        max_positions: Rows of the table; sinusoids grow when a longer row comes.
    """

    table: Tensor

    def __init__(
        self, kind: Literal["sinusoidal", "learned", "none"], d_model: int, max_positions: int
    ) -> None:
        super().__init__()
        self.kind = kind
        if kind == "learned":
            self.table = nn.Parameter(torch.empty(max_positions, d_model))
            nn.init.normal_(self.table, std=d_model**-0.5)
        elif kind == "sinusoidal":
            # Tabulated at the first use; the size that a configuration asks for costs no memory.
            self.register_buffer("table", torch.empty(0, d_model), persistent=False)
            self.first_rows = min(max_positions, FIRST_ROWS)

    def forward(self, x_BTD: Tensor, segments_BT: Tensor | None = None, start: int = 0) -> Tensor:
        """Add positions start, start + 1, ... to [B, T, D]; each packed sentence counts from 0.

        Raises:
            HeadwayError: If a learned table has too few rows.
        """
        if self.kind == "none":
            return x_BTD
        end = start + x_BTD.size(1)
        if segments_BT is None:
            return x_BTD + self.reaching(end)[start:end]
        position_BT = positions_in_segments(segments_BT)
        table = self.table
        if end > table.size(0):  # only then is it worth to look: packed rows are long
            table = self.reaching(int(position_BT.max()) + 1)
        return x_BTD + F.embedding(position_BT, table)

    def reaching(self, length: int) -> Tensor:
        """Return a table of at least so many rows; other threads may ask for others meanwhile.

        Raises:
            HeadwayError: If a learned table has too few.
        """
        table = self.table
        if length <= table.size(0):
            return table
        if self.kind == "learned":
            raise HeadwayError(
                f"{length} positions, but model.max_positions = {table.size(0)} were learned"
            )
        with torch.inference_mode(False):  # the table outlives the translation that needed it
            table = sinusoids(max(2 * length, self.first_rows), table.size(1)).to(table)
        if table.size(0) > self.table.size(0):
            self.table = table
        return table
