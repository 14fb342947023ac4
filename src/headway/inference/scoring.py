"""The probability of given tokens.

Shapes: B texts, S source tokens, T target tokens, V vocabulary.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headway.inference.batching import batch_by_length, pad_right
from headway.inference.engines.ensemble import average_logits
from headway.inference.search.beam_search import Decoding, check_finite
from headway.model import Transformer
from headway.text.tokenizer import Tokenizer


@torch.inference_mode()
def score_pairs(
    models: Sequence[Transformer],
    tokenizer: Tokenizer,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    batch_tokens: int,
) -> list[float]:
    """Return the natural log-probability of each target given its source, by forward passes.

    Args:
        models: On one device; several are an ensemble.
        tokenizer: Gives the ids of ``<pad>``.
        sources: Source token ids, ``</s>`` last.
        targets: Target token ids, ``</s>`` last.
        batch_tokens: Tokens of a batch, padding included.
    """
    device = models[0].source_embedding.weight.device
    scores = [0.0] * len(sources)
    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    for rows in batch_by_length(lengths, batch_tokens):
        source, segments = pad_right([sources[i] for i in rows], tokenizer.source_pad)
        target, real = pad_right([targets[i] for i in rows], tokenizer.target_pad)
        source, segments, target, real = (x.to(device) for x in (source, segments, target, real))
        logits = average_logits([model(source, target, segments) for model in models])
        totals = sum_log_probabilities(logits, target, real)
        for i, total in zip(rows, totals, strict=True):
            scores[i] = total
    return scores


def score_by_steps(decoding: Decoding, targets: Sequence[Sequence[int]], pad: int) -> list[float]:
    """Return the natural log-probability of each target, by the steps of a search.

    Args:
        decoding: New, with one hypothesis for each target.
        targets: Token ids, ``</s>`` last.
        pad: Id of ``<pad>``, the first input.
    """
    longest = max(map(len, targets))
    # After its end, a target repeats its last token, which does not count.
    tokens_NT = np.array([[*target] + [target[-1]] * (longest - len(target)) for target in targets])
    lengths_N = np.array([len(target) for target in targets])
    last_N, total_N = np.full(len(targets), pad), np.zeros(len(targets))
    for position in range(longest):
        found = decoding.candidates(last_N, 2, tokens_NT[:, position])
        check_finite(found.log_z)
        log_p_N = found.logits[:, 0].astype(np.float64) - found.log_z
        total_N += np.where(position < lengths_N, log_p_N, 0.0)
        last_N = tokens_NT[:, position]
    return total_N.tolist()


def sum_log_probabilities(logits_BTV: Tensor, tokens_BT: Tensor, real_BT: Tensor) -> list[float]:
    """Return the natural log-probability of each text, summed over its tokens in float64.

    Args:
        logits_BTV: Logits of each token.
        tokens_BT: The tokens.
        real_BT: 0 for padding, else 1.
    """
    log_p_BTV = logits_BTV.float().log_softmax(-1)
    log_p_BT = log_p_BTV.gather(2, tokens_BT[..., None]).squeeze(2).double()
    return (log_p_BT * real_BT).sum(1).tolist()
