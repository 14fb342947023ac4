"""The plain way to decode: a step function that gives logits, and a state of torch tensors.

It reads as the paper does, runs on every device and takes every model; native code must equal it.
"""

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from headway.inference.search import Candidates, Ids


class State(Protocol):
    """What is asked of a decoder's state; `headway.model.DecoderState` is one."""

    def reorder(self, rows: Tensor) -> None:
        """Let hypothesis i go on from hypothesis ``rows[i]``."""

    def keep(self, sentences: Tensor) -> None:
        """Forget what belongs to other sentences."""


StateT = TypeVar("StateT", bound=State)


class StepDecoding(Generic[StateT]):
    """A `Decoding` made of a step function.

    Args:
        step: Reads tokens [N], moves the state, gives logits [N, V].
        state: Fresh.
        pad: Id of ``<pad>``, which is no candidate.
        device: Of the tokens.
        choices: For each sentence the tokens it may choose among in a search; None: all.
    """

    def __init__(
        self,
        step: Callable[[Tensor, StateT], Tensor],
        state: StateT,
        pad: int,
        device: torch.device | None = None,
        choices: Sequence[Ids] | None = None,
    ) -> None:
        self.step, self.state, self.pad, self.device = step, state, pad, device
        self.choices = None if choices is None else list(choices)

    def logits(self, tokens: Ids) -> Tensor:
        """Read tokens [N] and give the logits of the next ones, [N, V]."""
        return self.step(self._tensor(tokens), self.state)

    def candidates(self, tokens: Ids, wanted: int, forced: Ids | None) -> Candidates:
        """Read tokens [N] and name the best next ones; see `Decoding`."""
        logits_NV = self.logits(tokens).float()
        if self.choices is not None:
            others_AV = logits_NV.new_ones(len(self.choices), logits_NV.size(1), dtype=torch.bool)
            for row_V, ids in zip(others_AV, self.choices, strict=True):
                row_V[self._tensor(ids)] = False
            others_NV = others_AV.repeat_interleave(len(tokens) // len(self.choices), 0)
            logits_NV = logits_NV.masked_fill(others_NV, -torch.inf)
        log_z_N = logits_NV.logsumexp(-1).double()
        logits_NV[:, self.pad] = -torch.inf
        if forced is not None:
            only_N1 = self._tensor(forced)[:, None]
            others_NV = torch.arange(logits_NV.size(1), device=self.device) != only_N1
            logits_NV = logits_NV.masked_fill(others_NV & (only_N1 >= 0), -torch.inf)
        logits_NC, tokens_NC = logits_NV.topk(min(wanted, logits_NV.size(1)))
        return Candidates(*(x.cpu().numpy() for x in (tokens_NC, logits_NC.double(), log_z_N)))

    def reorder(self, rows: Ids) -> None:
        """Let hypothesis i go on from hypothesis ``rows[i]``."""
        self.state.reorder(self._tensor(rows))

    def keep(self, sentences: Ids) -> None:
        """Forget what belongs to other sentences."""
        self.state.keep(self._tensor(sentences))
        if self.choices is not None:
            self.choices = [self.choices[sentence] for sentence in sentences]

    def _tensor(self, ids: Ids) -> Tensor:
        return torch.from_numpy(ids.copy()).to(self.device)
