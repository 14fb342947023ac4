"""Finding translations with a model that predicts one token after another; it knows no model.

A search drives ``step(tokens [N], state)``, which gives logits [N, V], N = sentences x beams.
What a sentence gets never depends on its neighbours: limits, scores and stopping are its own.

Shapes: A sentences still searched, K beams, N = A K, V vocabulary, T tokens so far.
Paper: section 6.1.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from headway.errors import HeadwayError


class State(Protocol):
    """What a search asks of a decoder's state; `headway.model.DecoderState` is one."""

    def reorder(self, rows: Tensor) -> None:
        """Let hypothesis i go on from hypothesis ``rows[i]``."""

    def keep(self, sentences: Tensor) -> None:
        """Forget what belongs to other sentences."""


StateT = TypeVar("StateT", bound=State)


class Hypothesis(NamedTuple):
    """A finished translation.

    Attributes:
        tokens: Its ids, ``</s>`` last.
        score: What hypotheses are ranked by: ``log_probability`` over the length penalty.
        log_probability: Natural logarithm, summed over the tokens.
    """

    tokens: list[int]
    score: float
    log_probability: float


def length_penalty(length: int, alpha: float) -> float:
    """Return ((5 + |Y|) / 6)^alpha, |Y| counting ``</s>`` (Wu et al., 2016; paper: section 6.1)."""
    return float(((5 + length) / 6) ** alpha)


def beam_search(
    step: Callable[[Tensor, StateT], Tensor],
    state: StateT,
    limits: Sequence[int],
    *,
    beam: int,
    alpha: float,
    n_best: int = 1,
    eos: int,
    pad: int,
    prefixes: Sequence[Sequence[int]] | None = None,
    device: torch.device | None = None,
) -> list[list[Hypothesis]]:
    """Search for the likeliest translations; a beam of 1 is greedy.

    A sentence is done when ``beam`` hypotheses have ended, or when no open one can still overtake the
    ``n_best`` best that have. A hypothesis that reaches its limit must end there.

    Args:
        step: Reads tokens [N], moves the state, gives logits [N, V].
        state: Fresh, for as many sentences as there are limits.
        limits: For each sentence its longest translation in tokens, ``</s>`` included.
        beam: K.
        alpha: Of the length penalty.
        n_best: Hypotheses wanted a sentence.
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``: the first input; never an output.
        prefixes: For each sentence tokens its translation must start with.
        device: Of the tokens.

    Returns:
        For each sentence up to ``n_best`` hypotheses, best first.
    """
    ended: list[list[Hypothesis]] = [[] for _ in limits]
    active = torch.arange(len(limits))  # the sentences still searched
    tokens_NT = torch.empty(len(limits) * beam, 0, dtype=torch.long, device=device)
    last_N = torch.full((len(limits) * beam,), pad, device=device)
    if prefixes is not None:  # there is always room for a prefix and the end
        limits = [max(n, len(p) + 1) for n, p in zip(limits, prefixes, strict=True)]
    # All beams start alike, so only the first may speak.
    # Sums are kept in float64: rounding in float32 would grow with the length.
    scores_AK = torch.full((len(limits), beam), -torch.inf, dtype=torch.float64, device=device)
    scores_AK[:, 0] = 0

    for length in range(1, max(limits, default=0) + 1):
        logits_NV = step(last_N, state).float()
        log_z_NV = _log_z(logits_NV)
        logits_NV[:, pad] = -torch.inf
        logits_AKV = logits_NV.view(len(active), beam, -1)
        for row, sentence in enumerate(active.tolist()):
            if prefixes is not None and length <= len(prefixes[sentence]):
                _only(logits_AKV[row], prefixes[sentence][length - 1])
            elif length == limits[sentence]:
                _only(logits_AKV[row], eos)
        # Twice as many candidates as beams: even if half of them end, K go on. Each beam's own are
        # chosen by their logits, as greedy search would; only their sums are compared, in float64.
        wanted = 2 * beam
        logits_NC, token_NC = logits_NV.topk(min(wanted, logits_NV.size(1)))
        log_p_AKC = (logits_NC.double() - log_z_NV).view(len(active), beam, -1)
        totals = (scores_AK[..., None] + log_p_AKC).flatten(1)
        best, place = totals.topk(min(wanted, totals.size(1)))
        origin = place // logits_NC.size(1)
        token = token_NC.view(len(active), -1).gather(1, place)
        ends = token == eos
        for row, rank in ends[:, :beam].nonzero().tolist():
            log_probability = best[row, rank].item()
            if log_probability > -torch.inf:
                before = tokens_NT[row * beam + int(origin[row, rank])].tolist()
                score = log_probability / length_penalty(length, alpha)
                found = Hypothesis([*before, eos], score, log_probability)
                ended[int(active[row])].append(found)

        # The first K candidates that do not end go on, in the order of their scores.
        going = (ends.long() * 2 * beam + torch.arange(best.size(1), device=device)).argsort(1)
        going = going[:, :beam]
        scores_AK = best.gather(1, going).masked_fill(ends.gather(1, going), -torch.inf)
        if scores_AK.size(1) < beam:  # fewer candidates than beams: a tiny vocabulary
            scores_AK = _widen(scores_AK, beam, -torch.inf)
            going = _widen(going, beam, 0)
        first_row = torch.arange(len(active), device=device)[:, None] * beam
        rows_N = (first_row + origin.gather(1, going)).flatten()
        last_N = token.gather(1, going).flatten()
        tokens_NT = torch.cat((tokens_NT[rows_N], last_N[:, None]), 1)

        tops = scores_AK[:, 0].tolist()
        open_rows = [
            row
            for row, sentence in enumerate(active.tolist())
            if not _done(ended[sentence], tops[row], limits[sentence], beam, alpha, n_best)
        ]
        if not open_rows:
            break
        if len(open_rows) < len(active):
            kept = torch.tensor(open_rows, device=device)
            state.keep(kept)
            active, scores_AK = active[kept.cpu()], scores_AK[kept]
            rows_N, last_N = _rows(rows_N, kept, beam), _rows(last_N, kept, beam)
            tokens_NT = tokens_NT.view(-1, beam, length)[kept].flatten(0, 1)
        state.reorder(rows_N)
    return [sorted(found, key=lambda h: -h.score)[:n_best] for found in ended]


def _log_z(logits_NV: Tensor) -> Tensor:
    """Return the logarithm of the softmax's denominator, float64 [N, 1].

    Raises:
        HeadwayError: If the model's predictions are not numbers.
    """
    log_z_NV = logits_NV.logsumexp(-1, keepdim=True).double()
    if not log_z_NV.isfinite().all():
        raise HeadwayError(
            "the model's predictions are not finite numbers: it is damaged, or diverged"
        )
    return log_z_NV


def _only(logits: Tensor, token: int) -> None:
    """Forbid every token but one, in place; its own logit stays."""
    kept = logits[..., token].clone()
    logits.fill_(-torch.inf)
    logits[..., token] = kept


def _widen(x_AK: Tensor, beam: int, value: float) -> Tensor:
    return torch.nn.functional.pad(x_AK, (0, beam - x_AK.size(1)), value=value)


def _rows(x_N: Tensor, kept: Tensor, beam: int) -> Tensor:
    return x_N.view(-1, beam)[kept].flatten()


def _done(
    ended: list[Hypothesis], top: float, limit: int, beam: int, alpha: float, n_best: int
) -> bool:
    """Whether a sentence's ``n_best`` are certain, or as many have ended as there are beams."""
    if len(ended) >= beam or top == -torch.inf:
        return True
    if len(ended) < n_best:
        return False
    # The longest translation divides by the largest penalty: no open hypothesis can do better.
    bound = top / length_penalty(limit, alpha)
    return sorted((h.score for h in ended), reverse=True)[n_best - 1] >= bound


def sample(
    step: Callable[[Tensor, StateT], Tensor],
    state: StateT,
    limits: Sequence[int],
    *,
    seeds: Sequence[Sequence[Sequence[int]]],
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    eos: int,
    pad: int,
    prefixes: Sequence[Sequence[int]] | None = None,
    device: torch.device | None = None,
) -> list[list[Hypothesis]]:
    """Draw translations from the model, as many a sentence as it has seeds.

    Every draw has random numbers of its own, so that neighbours change nothing.

    Args:
        step: Reads tokens [N], moves the state, gives logits [N, V].
        state: Fresh, for as many sentences as there are limits.
        limits: For each sentence its longest translation in tokens, ``</s>`` included.
        seeds: For each sentence one seed a draw, numbers for numpy's generator; as many for each.
        temperature: Divides the logits; below 1 is sharper.
        top_k: Draw among the k likeliest tokens; 0: all.
        top_p: Draw among the likeliest tokens that together have this probability.
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``: the first input; never an output.
        prefixes: For each sentence tokens its translation must start with.
        device: Of the tokens.

    Returns:
        For each sentence its draws, in the order of the seeds; their probabilities are the model's,
        without temperature, top-k or top-p.
    """
    draws = len(seeds[0]) if seeds else 0
    if prefixes is not None:  # there is always room for a prefix and the end
        limits = [max(n, len(p) + 1) for n, p in zip(limits, prefixes, strict=True)]
    longest = max(limits, default=0)
    uniform_NT = torch.from_numpy(
        np.stack([np.random.default_rng(s).random(longest) for row in seeds for s in row])
        if draws
        else np.zeros((0, longest))
    ).to(device)
    last_N = torch.full((len(limits) * draws,), pad, device=device)
    total_N = torch.zeros(len(last_N), dtype=torch.float64, device=device)
    open_N = torch.ones(len(last_N), dtype=torch.bool, device=device)
    tokens: list[list[int]] = [[] for _ in range(len(last_N))]
    for length in range(1, longest + 1):
        logits_NV = step(last_N, state).float()
        log_z_NV = _log_z(logits_NV)
        wanted_NV = _filtered(logits_NV / temperature, top_k, top_p, pad)
        # One uniform number picks the token at which the probabilities' sum passes it.
        cumulative_NV = wanted_NV.double().softmax(-1).cumsum(-1)
        picked = uniform_NT[:, length - 1, None] * cumulative_NV[:, -1:]
        last_N = torch.searchsorted(cumulative_NV, picked, right=True).squeeze(1)
        for row in range(len(last_N)):
            sentence = row // draws
            if prefixes is not None and length <= len(prefixes[sentence]):
                last_N[row] = prefixes[sentence][length - 1]
            elif length == limits[sentence]:
                last_N[row] = eos
        total_N += (logits_NV.gather(1, last_N[:, None]) - log_z_NV).squeeze(1) * open_N
        for row in open_N.nonzero().flatten().tolist():
            tokens[row].append(int(last_N[row]))
        open_N &= last_N != eos
        if not open_N.any():
            break
    found = [Hypothesis(t, p, p) for t, p in zip(tokens, total_N.tolist(), strict=True)]
    return [found[i * draws : (i + 1) * draws] for i in range(len(limits))]


def _filtered(logits_NV: Tensor, top_k: int, top_p: float, pad: int) -> Tensor:
    """Forbid ``pad`` and all that top-k and top-p leave out."""
    logits_NV = logits_NV.clone()
    logits_NV[:, pad] = -torch.inf
    if not top_k and top_p == 1:
        return logits_NV
    order_NV = logits_NV.argsort(stable=True, dim=-1, descending=True)
    rank_NV = order_NV.argsort(-1)
    out_NV = rank_NV >= (top_k or logits_NV.size(1))
    if top_p < 1:
        p_NV = logits_NV.double().softmax(-1).gather(1, order_NV)
        likelier_NV = (p_NV.cumsum(-1) - p_NV).gather(1, rank_NV)
        out_NV |= likelier_NV >= top_p
    return logits_NV.masked_fill(out_NV & (rank_NV > 0), -torch.inf)
