"""Sample translations from a model instead of searching for the likeliest.

Shapes: N = sentences x draws hypotheses, V vocabulary, T tokens.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from headway.inference.beam_search import Hypothesis, Ids, Rules, check_finite


class Drawing(Protocol):
    """Hypotheses that return all their logits."""

    def logits(self, tokens: Ids) -> Tensor:
        """Read tokens [N] and return the logits of the next tokens, [N, V]."""


def sample(
    decoding: Drawing,
    limits: Sequence[int],
    *,
    seeds: Sequence[Sequence[Sequence[int]]],
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    eos: int,
    pad: int,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[list[Hypothesis]]:
    """Sample translations from a model, one for each seed of a sentence.

    Every sample has its own random numbers, so it does not depend on the other sentences of the batch.

    Args:
        decoding: New, with one hypothesis for each seed of each sentence.
        limits: For each sentence the most tokens of its translation, ``</s>`` included.
        seeds: For each sentence its seeds, each a list of numbers for numpy's generator; all sentences
            have equally many.
        temperature: Divides the logits; below 1 is sharper.
        top_k: Sample among the k likeliest tokens; 0: all.
        top_p: Sample among the likeliest tokens that together have this probability.
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``, the first input; it is never an output.
        prefixes: For each sentence the tokens that its translation must start with.

    Returns:
        For each sentence its samples, in the order of the seeds. Their probabilities are those of the
        model, without temperature, top-k or top-p.
    """
    draws = len(seeds[0]) if seeds else 0
    rules = Rules(limits, prefixes, eos)
    sentences = np.arange(len(limits))
    uniform_NT = np.array(
        [np.random.default_rng(s).random(rules.longest) for row in seeds for s in row]
    )
    last_N = np.full(len(limits) * draws, pad)
    total_N = np.zeros(len(last_N))
    open_N = np.ones(len(last_N), dtype=bool)
    tokens: list[list[int]] = [[] for _ in range(len(last_N))]
    for length in range(1, rules.longest + 1):
        logits_NV = decoding.logits(last_N).float()
        # Not logsumexp: its result depends on the number of threads, which share a long row.
        log_p_NV = logits_NV.double().log_softmax(-1)
        check_finite(log_p_NV.amax(-1).cpu().numpy())
        wanted_NV = _filtered(logits_NV / temperature, top_k, top_p, pad)
        # The token at which the sum of the probabilities exceeds a uniform random number.
        cumulative_NV = wanted_NV.double().softmax(-1).cumsum(-1)
        uniform_N1 = torch.from_numpy(uniform_NT[:, length - 1, None]).to(logits_NV.device)
        picked_N1 = uniform_N1 * cumulative_NV[:, -1:]
        last_N = torch.searchsorted(cumulative_NV, picked_N1, right=True).squeeze(1).cpu().numpy()
        forced = rules.forced(sentences, length)
        if forced is not None:
            last_N = np.where(forced.repeat(draws) >= 0, forced.repeat(draws), last_N)
        taken_N1 = torch.from_numpy(last_N[:, None]).to(logits_NV.device)
        chosen_N = log_p_NV.gather(1, taken_N1).squeeze(1).cpu().numpy()
        total_N += np.where(open_N, chosen_N, 0)
        for row in np.flatnonzero(open_N):
            tokens[row].append(int(last_N[row]))
        open_N &= last_N != eos
        if not open_N.any():
            break
    found = [Hypothesis(t, p, p) for t, p in zip(tokens, total_N.tolist(), strict=True)]
    return [found[i * draws : (i + 1) * draws] for i in range(len(limits))]


def _filtered(logits_NV: Tensor, top_k: int, top_p: float, pad: int) -> Tensor:
    """Set the logits of ``pad`` and of all tokens outside top-k and top-p to minus infinity."""
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
