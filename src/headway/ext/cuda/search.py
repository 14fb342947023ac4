"""Beam search in which each step is the same sequence of operations on the same tensors.

It computes what `headway.translation.search.beam_search` computes, but on the device of the model. A step
never waits for the device, so a GPU can record it once and replay it.

Shapes: B sentences, K beams, N = B K hypotheses, C candidates of a beam, M best hypotheses,
V vocabulary, D d_model.
"""

from functools import partial

import numpy as np
import torch
from torch import Tensor

from headway.ext.cuda.beam_state import DONE, NOT_FINITE, OPEN, BeamState, Shape
from headway.ext.cuda.recorded_call import GraphMemory, RecordedCall
from headway.ext.cuda.top_k import find_largest
from headway.model import Transformer
from headway.translation import Hypothesis, Ids

FIRST_SPAN = 16  # positions; later steps read 32, 64, ... cached positions


class FixedSearch:
    """The search for a batch of one shape; the caller fills `state` and looks at it between steps.

    Args:
        model: In evaluation mode, on its device, with attention in all decoder layers.
        shape: The sizes of the batch.
        eos: Id of ``</s>``.
        memory: For the recorded steps.
    """

    def __init__(self, model: Transformer, shape: Shape, eos: int, memory: GraphMemory) -> None:
        self.model, self.shape, self.eos, self.memory = model, shape, eos, memory
        self.device = model.source_embedding.weight.device
        self.pad = model.config.target_vocab_size - 1
        self.state = BeamState(model, shape)
        self.places_C1 = torch.arange(min(2 * shape.beams, self.pad + 1), device=self.device)
        self.table = None
        if model.config.positions != "none":
            is_learned = model.config.positions == "learned"
            length = model.config.max_positions if is_learned else shape.target
            self.table = model.target_positions.table_of(length)
        self._steps: dict[int, RecordedCall] = {}

    def step(self, length: int) -> None:
        """Take the step that chooses the ``length``-th token of every hypothesis."""
        span = min(self.shape.target, max(FIRST_SPAN, 1 << (length - 1).bit_length()))
        if span not in self._steps:
            self._steps[span] = RecordedCall(self.memory)
        self._steps[span](partial(self.advance, span))

    def advance(self, span: int) -> None:
        """Read the last tokens, choose the next ones, and update the state in place.

        Args:
            span: Cached positions that attention reads; as many as there are, or more.
        """
        self.state.past.span = span
        self.state.past.begin_step()
        rows_N = self._choose(*self._candidates(self._logits()))
        self.state.past.end_step(rows_N)

    def _logits(self) -> Tensor:
        model, state = self.model, self.state
        x_ND = model.target_table(state.last_BK.flatten())
        if self.table is not None:
            x_ND = x_ND + self.table.index_select(0, state.past.position)
        return model.logits(model.decoder.step(x_ND[:, None], state.decoder)[:, 0])

    def _candidates(self, logits_NV: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return log-probabilities and ids of the best tokens, [B, K, C], and whether they are numbers, [B, K]."""
        state, (sentences, beams, *_) = self.state, self.shape
        logits_BKV = logits_NV.unflatten(0, (sentences, beams))
        if state.hidden_BV is not None:
            logits_BKV = logits_BKV.masked_fill(state.hidden_BV[:, None], -torch.inf)
        log_p_BKV = logits_BKV.log_softmax(-1, dtype=torch.float32)
        of_pad_BK = log_p_BKV.select(-1, self.pad)
        are_numbers_BK = (
            ~of_pad_BK.isnan()
        )  # a NaN among the logits, or +inf, makes all of them NaN
        of_pad_BK.fill_(-torch.inf)
        top_BKC, tokens_BKC = find_largest(log_p_BKV, len(self.places_C1))
        others_BKC = top_BKC.masked_fill(tokens_BKC == self.eos, -torch.inf)
        has_others_BK1 = others_BKC.isfinite().any(-1, keepdim=True)
        is_first_step = state.past.position == 0
        top_BKC = torch.where(is_first_step & has_others_BK1, others_BKC, top_BKC)
        forced_B11 = state.forced_BT.index_select(1, state.past.position)[:, :, None]
        forced_BK1 = forced_B11.clamp(min=0).expand(-1, beams, -1)
        is_first_C = self.places_C1 == 0
        only_BKC = torch.where(is_first_C, log_p_BKV.gather(2, forced_BK1), -torch.inf)
        is_forced_B11 = forced_B11 >= 0
        top_BKC = torch.where(is_forced_B11, only_BKC, top_BKC)
        only_BKC = torch.where(is_first_C, forced_BK1, self.pad)
        tokens_BKC = torch.where(is_forced_B11, only_BKC, tokens_BKC)
        return top_BKC.double(), tokens_BKC, are_numbers_BK

    def _choose(self, log_p_BKC: Tensor, tokens_BKC: Tensor, are_numbers_BK: Tensor) -> Tensor:
        """Choose the hypotheses that end and those that continue, as `beam_search` does.

        Returns:
            For each hypothesis the one that it continues, [N].
        """
        state, (_, beams, _, _, n_best, _) = self.state, self.shape
        position = state.past.position
        totals = (state.scores_BK[..., None] + log_p_BKC).flatten(1)
        # Of equal candidates, the one of the earlier beam wins, then the earlier one of a beam.
        totals, place = totals.sort(dim=1, descending=True, stable=True)
        best, place = totals[:, : 2 * beams], place[:, : 2 * beams]
        token = tokens_BKC.flatten(1).gather(1, place)
        origin = place // len(self.places_C1)
        ends = token == self.eos
        is_open_B1 = (state.status_B == OPEN)[:, None]

        sums_BK = best[:, :beams]
        penalty = state.penalties_T.index_select(0, position)
        is_new_BK = ends[:, :beams] & (sums_BK > -torch.inf) & is_open_B1
        new_BK = torch.where(is_new_BK, sums_BK / penalty, -torch.inf)
        end_BK = (position + 1) * beams + origin[:, :beams]
        scores, kept = torch.cat((state.best_scores_BM, new_BK), 1).sort(
            dim=1, descending=True, stable=True
        )
        kept_BM = kept[:, :n_best]
        state.best_scores_BM.copy_(scores[:, :n_best])
        for tensor, new in ((state.best_sums_BM, sums_BK), (state.best_ends_BM, end_BK)):
            tensor.copy_(torch.cat((tensor, new), 1).gather(1, kept_BM))
        state.finished_B += is_new_BK.sum(1)

        # The first K candidates that do not end continue, in the order of their scores.
        going_BK = ends.byte().sort(dim=1, stable=True).indices[:, :beams]
        origin_BK = origin.gather(1, going_BK)
        state.scores_BK.copy_(best.masked_fill(ends, -torch.inf).gather(1, going_BK))
        state.last_BK.copy_(token.gather(1, going_BK))
        move_BK = state.last_BK * beams + origin_BK
        state.moves_BTK.index_copy_(1, position, move_BK[:, None])

        top_B = state.scores_BK[:, 0]
        longest_B = torch.where(state.finished_B >= beams, penalty, state.limit_penalties_B)
        cannot_win_B = state.best_scores_BM[:, -1] >= top_B / longest_B
        is_done_B = (top_B == -torch.inf) | ((state.finished_B >= n_best) & cannot_win_B)
        status_B = torch.where(
            are_numbers_BK.all(1), torch.where(is_done_B, DONE, OPEN), NOT_FINITE
        )
        state.status_B.copy_(torch.where(is_open_B1[:, 0], status_B, state.status_B))
        return (state.first_rows_B1 + origin_BK).flatten()

    def read(self, sentences: Tensor) -> list[list[Hypothesis]]:
        """Return the best hypotheses of some sentences, [B'], on the CPU.

        This waits for the device.
        """
        state, beams = self.state, self.shape.beams
        scores, sums, ends, moves = (
            x.index_select(0, sentences).cpu().numpy()
            for x in (state.best_scores_BM, state.best_sums_BM, state.best_ends_BM, state.moves_BTK)
        )
        tokens = _trace(moves, ends, beams)
        return [
            [
                Hypothesis([*tokens[row, m, : end // beams - 1].tolist(), self.eos], score, total)
                for m, (score, total, end) in enumerate(zip(*best, strict=True))
                if score > -np.inf
            ]
            for row, best in enumerate(
                zip(scores.tolist(), sums.tolist(), ends.tolist(), strict=True)
            )
        ]


def _trace(moves_BTK: Ids, ends_BM: Ids, beams: int) -> Ids:
    """Return the tokens of hypotheses, [B, M, T], by following the moves of their beams back to the start."""
    lengths_BM, beam_BM = np.divmod(ends_BM, beams)
    tokens_BMT = np.zeros((*ends_BM.shape, moves_BTK.shape[1]), dtype=np.int64)
    for place in range(int(lengths_BM.max(initial=0)) - 2, -1, -1):  # the last token is </s>
        token_BM, origin_BM = np.divmod(np.take_along_axis(moves_BTK[:, place], beam_BM, 1), beams)
        is_part_BM = place < lengths_BM - 1
        tokens_BMT[:, :, place] = token_BM
        beam_BM = np.where(is_part_BM, origin_BM, beam_BM)
    return tokens_BMT
