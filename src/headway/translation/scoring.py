"""What a model makes of targets that are given: the probabilities of their tokens, and its attention.

Shapes: B texts, S source tokens, T target tokens, V vocabulary.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headway.config import ModelConfig

WordPairs = list[tuple[int, int]]  # (number of a source word, number of a target word), from 0
LayerChoice = Callable[[ModelConfig], range]  # the numbers of some layers of a decoder
LogProbabilities = NDArray[np.float64]  # natural, of each token of a text: [T]


class GivenTarget(NamedTuple):
    """What a model makes of a target that is given.

    Attributes:
        log_p: Natural log-probability of each token, [T], in float64; empty if nobody has asked for it.
        weights: How much each token attends to each token of the source, [T, S], in fp32 on the CPU; each row sums
            to 1. Empty if nobody has asked for it.
    """

    log_p: LogProbabilities
    weights: Tensor


def add_log_p(given: GivenTarget) -> float:
    """Return the log-probability of a target: the sum over its tokens, from the first to the last."""
    total: float = sum(given.log_p.tolist())
    return total


def take_log_probabilities(logits_BTV: Tensor, tokens_BT: Tensor) -> Tensor:
    """Return the natural log-probability of each token in float64, [B, T].

    Args:
        logits_BTV: Logits of each token.
        tokens_BT: The tokens.
    """
    log_p_BTV = logits_BTV.float().log_softmax(-1)
    return log_p_BTV.gather(2, tokens_BT[..., None]).squeeze(2).double()


def average_logits(logits: Sequence[Tensor]) -> Tensor:
    """Return the logarithm of the mean of the probabilities of models, [..., V].

    Args:
        logits: Of each model, [..., V]. Those of a single model are returned as they are.
    """
    if len(logits) == 1:
        return logits[0]
    # Sums of two at a time take a fifth of the time of `torch.logsumexp` over stacked tensors.
    log_p = (each.float().log_softmax(-1) for each in logits)
    return reduce(torch.logaddexp, log_p) - math.log(len(logits))
