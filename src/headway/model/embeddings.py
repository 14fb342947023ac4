"""Into a stack and out of the last one: token embeddings, positions, the target shifted by one position, and the logits.

Shapes: B batch, T positions, D d_model, E d_embedding, V vocabulary. Paper: sections 3.1, 3.4 and 3.5.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.model.ops import Dropout, Linear, operations_of
from headway.model.visibility import Segments
from headway.torch_private import has_gradient_hook

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


class Embedding(nn.Module):
    """Token embeddings, multiplied by ``scale``; the last row, that of ``<pad>``, is zero and no training changes it.

    The decoder starts from that row. A hook clears the row's gradient, because a tied matrix gets
    gradients from the softmax too; so the row stays zero under any optimizer. An imported model may
    start from another vector, which stays in the same way.
    Paper: section 3.4.

    Args:
        vocab_size: Rows, ``<pad>`` included.
        d_embedding: Width E of a row.
        d_model: Width D of the output; a linear map leads from E to D if they differ.
        scale: Multiplies the rows; the paper's is sqrt(d_model).
    """

    def __init__(self, vocab_size: int, d_embedding: int, d_model: int, *, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.weight = nn.Parameter(torch.empty(vocab_size, d_embedding))
        nn.init.normal_(self.weight, std=d_embedding**-0.5)
        with torch.no_grad():
            self.weight[-1] = 0
        _keep_pad_zero(self)
        # Loading with ``assign=True`` replaces the parameter by one that has no hooks.
        self.register_load_state_dict_post_hook(_keep_pad_zero)  # type: ignore[no-untyped-call]
        self.expand = None if d_embedding == d_model else Linear(d_embedding, d_model, bias=False)

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        _keep_pad_zero(self)  # a copied parameter has no hooks

    def forward(self, tokens: Tensor) -> Tensor:
        """Look up [...] tokens as [..., D] vectors.

        Raises:
            HeadwayError: If one is not in the vocabulary, on a CPU.
        """
        try:
            rows = F.embedding(tokens, self.weight) * self.scale
        except IndexError:
            least, most = torch.stack(tokens.aminmax()).tolist()
            raise HeadwayError(
                f"tokens from {least} to {most}: must be from 0 to {len(self.weight) - 1}"
            ) from None
        return rows if self.expand is None else self.expand(rows)


def _keep_pad_zero(embedding: Embedding, _keys: object = None) -> None:
    if not has_gradient_hook(embedding.weight):
        embedding.weight.register_post_accumulate_grad_hook(_clear_pad)


def _clear_pad(weight: Tensor) -> None:
    if weight.grad is not None:
        weight.grad[-1] = 0


def make_embedding(config: ModelConfig, side: Literal["source", "target"]) -> Embedding:
    """Make the embedding of the source's or the target's vocabulary.

    Raises:
        HeadwayError: If the size of that vocabulary is not set.
    """
    vocab_size = config.source_vocab_size if side == "source" else config.target_vocab_size
    if vocab_size < 2:
        raise HeadwayError(
            f"{side}_vocab_size = {vocab_size}: give the size of the vocabulary, 2 or more"
        )
    scale = config.d_model**0.5 if config.scale_embeddings else 1.0
    return Embedding(vocab_size, config.d_embedding or config.d_model, config.d_model, scale=scale)


def shift_right(target_BT: Tensor, pad: int, segments: Segments | None = None) -> Tensor:
    """Offset the target by one position: each sentence of a row starts from ``pad``.

    Paper: section 3.1, "output embeddings are offset by one position".
    """
    shifted_BT = F.pad(target_BT, (1, 0), value=pad)[:, :-1]
    if segments is None:
        return shifted_BT
    return shifted_BT.masked_fill(segments.positions() == 0, pad)


class Output(nn.Module):
    """The linear map from hidden states to logits. Its matrix is that of an embedding (tying), or its own.

    Paper: section 3.4.

    Args:
        config: Its tying, widths, ``scale_logits`` and ``output_bias`` count.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width, vocab_size = config.d_embedding or config.d_model, config.target_vocab_size
        self.scale = config.d_model**-0.5 if config.scale_logits else 1.0
        self.reduce = None if width == config.d_model else Linear(config.d_model, width, bias=False)
        self.weight = (
            nn.Parameter(torch.empty(vocab_size, width)) if config.tying == "none" else None
        )
        self.bias = nn.Parameter(torch.zeros(vocab_size)) if config.output_bias else None
        if self.weight is not None:
            nn.init.normal_(self.weight, std=width**-0.5)

    def forward(self, hidden: Tensor, tied: Tensor) -> Tensor:
        """Map [..., D] to logits [..., V], by ``tied`` [V, E] unless it has its own matrix."""
        if self.reduce is not None:
            hidden = self.reduce(hidden)
        weight = tied if self.weight is None else self.weight
        hidden = hidden * self.scale if self.scale != 1 else hidden
        return operations_of(hidden).linear(hidden, weight, self.bias)
