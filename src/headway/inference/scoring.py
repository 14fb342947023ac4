"""The probability of given tokens.

Shapes: B texts, N hypotheses, S source tokens, T target tokens, V vocabulary.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headway.inference.batching import batch_by_length, pad_right
from headway.inference.engines.ensemble import average_logits
from headway.inference.search.beam_search import Decoding, check_finite
from headway.model import Transformer
from headway.text.tokenizer import Tokenizer

LogProbabilities = NDArray[np.float64]  # natural, of each token of a text: [T]


def add_up(scores: Sequence[LogProbabilities]) -> list[float]:
    """Return the log-probability of each text: the sum over its tokens, from the first to the last."""
    return [sum(log_p_T.tolist()) for log_p_T in scores]


@torch.inference_mode()
def log_probabilities_by_passes(
    models: Sequence[Transformer],
    tokenizer: Tokenizer,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    batch_tokens: int,
) -> list[LogProbabilities]:
    """Return the log-probabilities of the tokens of each target given its source, by forward passes.

    Args:
        models: On one device; several are an ensemble.
        tokenizer: Gives the ids of ``<pad>``.
        sources: Source token ids, ``</s>`` last.
        targets: Target token ids, ``</s>`` last.
        batch_tokens: Tokens of a batch, padding included.
    """
    device = models[0].source_embedding.weight.device
    scores: list[LogProbabilities] = [np.empty(0)] * len(sources)
    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    for rows in batch_by_length(lengths, batch_tokens):
        source, segments = pad_right([sources[i] for i in rows], tokenizer.source_pad)
        target, _ = pad_right([targets[i] for i in rows], tokenizer.target_pad)
        source, segments, target = (x.to(device) for x in (source, segments, target))
        logits = average_logits([model(source, target, segments) for model in models])
        log_p_BT = take_log_probabilities(logits, target).cpu().numpy()
        for i, log_p_T in zip(rows, log_p_BT, strict=True):
            scores[i] = log_p_T[: len(targets[i])]
    return scores


def log_probabilities_by_steps(
    decoding: Decoding, targets: Sequence[Sequence[int]], pad: int
) -> list[LogProbabilities]:
    """Return the log-probabilities of the tokens of each target, by the steps of a search.

    Args:
        decoding: New, with one hypothesis for each target.
        targets: Token ids, ``</s>`` last.
        pad: Id of ``<pad>``, the first input.
    """
    longest = max(map(len, targets))
    # After its end, a target repeats its last token, which does not count.
    tokens_NT = np.array([[*target] + [target[-1]] * (longest - len(target)) for target in targets])
    last_N, log_p_NT = np.full(len(targets), pad), np.empty(tokens_NT.shape)
    for position in range(longest):
        found = decoding.candidates(last_N, 2, tokens_NT[:, position])
        check_finite(found.log_z)
        log_p_NT[:, position] = found.logits[:, 0].astype(np.float64) - found.log_z
        last_N = tokens_NT[:, position]
    return [log_p_T[: len(target)] for log_p_T, target in zip(log_p_NT, targets, strict=True)]


def take_log_probabilities(logits_BTV: Tensor, tokens_BT: Tensor) -> Tensor:
    """Return the natural log-probability of each token in float64, [B, T].

    Args:
        logits_BTV: Logits of each token.
        tokens_BT: The tokens.
    """
    log_p_BTV = logits_BTV.float().log_softmax(-1)
    return log_p_BTV.gather(2, tokens_BT[..., None]).squeeze(2).double()
