"""Label-smoothed cross entropy whose gradient takes the logits' place (paper: section 5.4)."""

import torch
from torch import Tensor

from headway.kernels.training import TYPES, native


def entropy_(logits_NV: Tensor, labels_N: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Turn logits into the gradient of their summed smoothed cross entropy, in place.

    Args:
        logits_NV: [N, V]; the gradient afterwards.
        labels_N: Right tokens, [N]; negative for padding, which counts for nothing.
        smoothing: Epsilon, spread evenly over the vocabulary.

    Returns:
        Summed over the rows, in nats: cross entropy with the right tokens, and with all tokens
        alike; the loss is (1 - epsilon) of the first and epsilon of the second.
    """
    if labels_N.shape != logits_NV.shape[:1]:
        raise ValueError(f"labels {list(labels_N.shape)} for logits {list(logits_NV.shape)}")
    if labels_N.numel() and int(labels_N.max()) >= logits_NV.size(1):
        raise IndexError(f"label {int(labels_N.max())} of {logits_NV.size(1)} tokens")
    labels_N = labels_N.long().contiguous()
    functions = native(logits_NV)
    if functions is None or not logits_NV.is_contiguous():
        return plain_entropy_(logits_NV, labels_N, smoothing)
    sums = torch.zeros(2, dtype=torch.float64)
    functions.entropy(
        logits_NV.data_ptr(), labels_N.data_ptr(), *logits_NV.shape, smoothing, sums.data_ptr(),
        TYPES[logits_NV.dtype],
    )  # fmt: skip
    torch.autograd.graph.increment_version(logits_NV)  # autograd should know that they are gone
    return sums[0], sums[1]


def plain_entropy_(logits_NV: Tensor, labels_N: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """`entropy_` in torch's words."""
    real_N = labels_N >= 0
    labels_N1 = labels_N.clamp(min=0)[:, None]
    p_NV = logits_NV.softmax(1, dtype=torch.promote_types(logits_NV.dtype, torch.float32))
    # log Z from the largest logit and its probability, which cannot underflow: two quick passes
    # where logsumexp would compute all the exponentials again.
    log_z_N = logits_NV.amax(1).to(p_NV) - p_NV.amax(1).log()
    nll = (log_z_N - logits_NV.gather(1, labels_N1).squeeze(1)).masked_fill(~real_N, 0).sum()
    even = (log_z_N - logits_NV.mean(1, dtype=p_NV.dtype)).masked_fill(~real_N, 0).sum()
    p_NV -= smoothing / p_NV.size(1)
    p_NV.scatter_add_(1, labels_N1, p_NV.new_full(labels_N1.shape, smoothing - 1))
    logits_NV.copy_(p_NV.masked_fill(~real_N[:, None], 0))
    return nll, even
