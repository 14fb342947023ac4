"""Sample translations from a model instead of searching for the likeliest.

Shapes: N = sentences x draws hypotheses, O of them open, V vocabulary, T tokens.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headway.translation.search.beam_search import Drawing, Hypothesis, Rules, check_finite


def sample(
    decoding: Drawing,
    limits: Sequence[int],
    *,
    seeds: Sequence[Sequence[Sequence[int]]],
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    epsilon: float = 0.0,
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
        epsilon: Sample among the tokens of at least this probability, or take the likeliest (Hewitt et
            al., 2022).
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``, the first input; it is never an output.
        prefixes: For each sentence the tokens that its translation must start with.

    Returns:
        For each sentence its samples, in the order of the seeds. Their probabilities are those of the
        model, without temperature, top-k, top-p or epsilon.
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
        rows_O = np.flatnonzero(open_N)  # the samples that have not ended
        logits_OV = decoding.logits(last_N)[torch.from_numpy(rows_O)].float()
        # Not logsumexp: its result depends on the number of threads, which share a long row.
        log_p_OV = logits_OV.double().log_softmax(-1)
        check_finite(log_p_OV.amax(-1).cpu().numpy())
        wanted_OV = _filtered(logits_OV / temperature, top_k, top_p, epsilon, pad)
        # The token at which the sum of the probabilities exceeds a uniform random number.
        cumulative_OV = wanted_OV.double().softmax(-1).cumsum(-1)
        uniform_O1 = torch.from_numpy(uniform_NT[rows_O, length - 1, None]).to(logits_OV.device)
        picked_O1 = uniform_O1 * cumulative_OV[:, -1:]
        taken_O = torch.searchsorted(cumulative_OV, picked_O1, right=True).squeeze(1).cpu().numpy()
        forced = rules.forced(sentences, length)
        if forced is not None:
            forced_O = forced.repeat(draws)[rows_O]
            taken_O = np.where(forced_O >= 0, forced_O, taken_O)
        taken_O1 = torch.from_numpy(taken_O[:, None]).to(logits_OV.device)
        total_N[rows_O] += log_p_OV.gather(1, taken_O1).squeeze(1).cpu().numpy()
        last_N[rows_O] = taken_O
        for row, token in zip(rows_O.tolist(), taken_O.tolist(), strict=True):
            tokens[row].append(token)
        open_N &= last_N != eos
        if not open_N.any():
            break
    found = [Hypothesis(t, p, p) for t, p in zip(tokens, total_N.tolist(), strict=True)]
    return [found[i * draws : (i + 1) * draws] for i in range(len(limits))]


def _filtered(logits_NV: Tensor, top_k: int, top_p: float, epsilon: float, pad: int) -> Tensor:
    """Set the logits of ``pad`` and of all tokens outside top-k, top-p and epsilon to minus infinity."""
    logits_NV = logits_NV.clone()
    logits_NV[:, pad] = -torch.inf
    if epsilon:
        p_NV = logits_NV.softmax(-1)
        is_likeliest_NV = p_NV == p_NV.amax(-1, keepdim=True)
        logits_NV = logits_NV.masked_fill((p_NV < epsilon) & ~is_likeliest_NV, -torch.inf)
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
