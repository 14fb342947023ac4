"""What a model makes of targets that are given: the probabilities of their tokens, and its attention.

Shapes: B texts, S source tokens, T target tokens, V vocabulary.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

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


def add_up(scores: Sequence[LogProbabilities]) -> list[float]:
    """Return the log-probability of each text: the sum over its tokens, from the first to the last."""
    return [sum(log_p_T.tolist()) for log_p_T in scores]


def take_log_probabilities(logits_BTV: Tensor, tokens_BT: Tensor) -> Tensor:
    """Return the natural log-probability of each token in float64, [B, T].

    Args:
        logits_BTV: Logits of each token.
        tokens_BT: The tokens.
    """
    log_p_BTV = logits_BTV.float().log_softmax(-1)
    return log_p_BTV.gather(2, tokens_BT[..., None]).squeeze(2).double()
