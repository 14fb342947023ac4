"""Decoding in plain torch: a step function that returns logits, and a state of tensors.

It runs every model on every device; native code must give the same results.
"""

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from headway.translation.search.beam_search import Candidates, Ids


class HypothesesState(Protocol):
    """What a step function knows of its hypotheses, such as `headway.model.DecoderState`."""

    def reorder(self, rows: Tensor) -> None:
        """Let hypothesis i continue hypothesis ``rows[i]``."""

    def keep(self, sentences: Tensor) -> None:
        """Drop the hypotheses of all other sentences."""


StateT = TypeVar("StateT", bound=HypothesesState)


class StepDecoding(Generic[StateT]):
    """A `Decoding` made of a step function.

    Args:
        step: Reads tokens [N], updates the state, returns logits [N, V].
        state: New.
        pad: Id of ``<pad>``, which is never a candidate.
        device: Where the step function reads tokens.
        choices: For each sentence the tokens that a search may choose; None: all tokens.
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
        """Read tokens [N] and return the logits of the next tokens, [N, V]."""
        return self.step(self._tensor(tokens), self.state)

    def candidates(
        self, tokens: Ids, wanted: int, forced: Ids | None, asked: Ids | None = None
    ) -> Candidates:
        """Read tokens [N] and return the best next tokens; see `Decoding`."""
        logits_NV = self.logits(tokens).float()
        if self.choices is not None:
            others_AV = logits_NV.new_ones(len(self.choices), logits_NV.size(1), dtype=torch.bool)
            for row_V, ids in zip(others_AV, self.choices, strict=True):
                row_V[self._tensor(ids)] = False
            others_NV = others_AV.repeat_interleave(len(tokens) // len(self.choices), 0)
            logits_NV = logits_NV.masked_fill(others_NV, -torch.inf)
        # A single row is shared by the threads, whose number would change the last bits; several rows are not.
        rows_NV = logits_NV if len(logits_NV) > 1 else logits_NV.expand(2, -1)
        log_z_N = rows_NV.logsumexp(-1)[: len(logits_NV)].double()
        asked_NE = None if asked is None else logits_NV.gather(1, self._tensor(asked))
        logits_NV[:, self.pad] = -torch.inf
        if forced is not None:
            only_N1 = self._tensor(forced)[:, None]
            others_NV = torch.arange(logits_NV.size(1), device=self.device) != only_N1
            logits_NV = logits_NV.masked_fill(others_NV & (only_N1 >= 0), -torch.inf)
        logits_NC, tokens_NC = logits_NV.topk(min(wanted, logits_NV.size(1)))
        found = (tokens_NC, logits_NC.double(), log_z_N)
        tokens, logits, log_z = (x.cpu().numpy() for x in found)
        answers = None if asked_NE is None else asked_NE.double().cpu().numpy()
        return Candidates(tokens, logits, log_z, answers)

    def reorder(self, rows: Ids) -> None:
        """Let hypothesis i continue hypothesis ``rows[i]``."""
        self.state.reorder(self._tensor(rows))

    def keep(self, sentences: Ids) -> None:
        """Drop the hypotheses of all other sentences."""
        self.state.keep(self._tensor(sentences))
        if self.choices is not None:
            self.choices = [self.choices[sentence] for sentence in sentences]

    def _tensor(self, ids: Ids) -> Tensor:
        return torch.from_numpy(ids.copy()).to(self.device)
