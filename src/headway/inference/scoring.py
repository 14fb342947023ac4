"""The probability of given tokens.

Shapes: B texts, T tokens, V vocabulary.
"""

from torch import Tensor


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
