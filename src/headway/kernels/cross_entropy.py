"""Label-smoothed cross entropy that overwrites the logits by its gradient (paper: section 5.4)."""

import torch
from torch import Tensor

from headway.kernels.fusion import can_fuse, fuse
from headway.kernels.training_library import TYPES, supporting_library
from headway.torch_private import is_traced


def cross_entropy_(logits_NV: Tensor, labels_N: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Turn logits into the gradient of their summed smoothed cross entropy, in place.

    Args:
        logits_NV: [N, V]; the gradient afterwards.
        labels_N: Right tokens, [N]; negative for padding, which counts for nothing.
        smoothing: Epsilon, spread evenly over the vocabulary.

    Returns:
        Two cross entropies, summed over the rows, in nats: with the right tokens, and with an even
        distribution; the loss is (1 - epsilon) of the first and epsilon of the second.
    """
    labels_N = _check_labels(labels_N, logits_NV)
    if can_fuse(logits_NV) and not is_traced(logits_NV):
        return fuse(fusible_cross_entropy_, plain_cross_entropy_)(logits_NV, labels_N, smoothing)
    library = supporting_library(logits_NV)
    if library is None or not logits_NV.is_contiguous():
        return plain_cross_entropy_(logits_NV, labels_N, smoothing)
    sums = torch.zeros(2, dtype=torch.float64)
    library.entropy(
        logits_NV.data_ptr(), labels_N.data_ptr(), *logits_NV.shape, smoothing, sums.data_ptr(),
        TYPES[logits_NV.dtype],
    )  # fmt: skip
    torch.autograd.graph.increment_version(logits_NV)  # autograd must not use the logits again
    return sums[0], sums[1]


def plain_cross_entropy_(
    logits_NV: Tensor, labels_N: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Compute `cross_entropy_` in plain torch."""
    real_N = labels_N >= 0
    labels_N1 = labels_N.clamp(min=0)[:, None]
    p_NV = logits_NV.softmax(1, dtype=torch.promote_types(logits_NV.dtype, torch.float32))
    # log Z follows from the largest logit and its probability, which cannot underflow; logsumexp
    # would compute all the exponentials again.
    log_z_N = logits_NV.amax(1).to(p_NV) - p_NV.amax(1).log()
    nll = (log_z_N - logits_NV.gather(1, labels_N1).squeeze(1)).masked_fill(~real_N, 0).sum()
    even = (log_z_N - logits_NV.mean(1, dtype=p_NV.dtype)).masked_fill(~real_N, 0).sum()
    p_NV -= smoothing / p_NV.size(1)
    p_NV.scatter_add_(1, labels_N1, p_NV.new_full(labels_N1.shape, smoothing - 1))
    logits_NV.copy_(p_NV.masked_fill(~real_N[:, None], 0))
    return nll, even


def fusible_cross_entropy_(
    logits_NV: Tensor, labels_N: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Compute `cross_entropy_` in a form that compiles into few kernels, which store no probabilities."""
    real_N1 = (labels_N >= 0)[:, None]
    is_label_NV = torch.arange(logits_NV.size(1), device=labels_N.device) == labels_N[:, None]
    x_NV = logits_NV.to(torch.promote_types(logits_NV.dtype, torch.float32))
    largest_N1 = x_NV.amax(1, keepdim=True)
    log_z_N1 = largest_N1 + (x_NV - largest_N1).exp().sum(1, keepdim=True).log()
    label_N1 = torch.where(is_label_NV, x_NV, 0).sum(1, keepdim=True)
    nll = torch.where(real_N1, log_z_N1 - label_N1, 0).sum()
    even = torch.where(real_N1, log_z_N1 - x_NV.mean(1, keepdim=True), 0).sum()
    p_NV = (x_NV - log_z_N1).exp()
    target_NV = is_label_NV.to(p_NV.dtype) * (1 - smoothing) + smoothing / logits_NV.size(1)
    logits_NV.copy_(torch.where(real_N1, p_NV - target_NV, 0))
    return nll, even


def agreement_(
    logits_N2V: Tensor, labels_N: Tensor, smoothing: float, weight: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Turn two predictions of each label into the gradient of a loss that makes them agree (R-Drop).

    Source: Liang et al. (2021).

    Args:
        logits_N2V: [N, 2, V]; afterwards the gradient of the mean of the two smoothed cross
            entropies and ``weight / 2`` times the mean of the two divergences, KL(p||q) and KL(q||p).
        labels_N: Right tokens, [N]; negative for padding, which counts for nothing.
        smoothing: Epsilon, spread evenly over the vocabulary.
        weight: Alpha of the paper, whose loss is twice this one.

    Returns:
        Three sums over the labels, in nats: the two that `cross_entropy_` returns, as means of the two
        predictions, and the mean of the two divergences.
    """
    labels_N = _check_labels(labels_N, logits_N2V)
    library = supporting_library(logits_N2V)
    if library is None or not logits_N2V.is_contiguous():
        return plain_agreement_(logits_N2V, labels_N, smoothing, weight)
    sums = torch.zeros(3, dtype=torch.float64)
    library.agreement(
        logits_N2V.data_ptr(), labels_N.data_ptr(), len(labels_N), logits_N2V.size(2), smoothing,
        weight, sums.data_ptr(), TYPES[logits_N2V.dtype],
    )  # fmt: skip
    torch.autograd.graph.increment_version(logits_N2V)
    return sums[0], sums[1], sums[2]


def plain_agreement_(
    logits_N2V: Tensor, labels_N: Tensor, smoothing: float, weight: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute `agreement_` in plain torch."""
    real_N1 = (labels_N >= 0)[:, None]
    log_p_N2V = logits_N2V.to(torch.promote_types(logits_N2V.dtype, torch.float32)).log_softmax(2)
    ratio_N2V = log_p_N2V - log_p_N2V.flip(1)  # of each prediction to the other
    p_N2V = log_p_N2V.exp()
    apart_N2 = ((p_N2V * ratio_N2V).sum(2)).masked_fill(~real_N1, 0)
    nll, even = plain_cross_entropy_(
        logits_N2V.view(-1, logits_N2V.size(2)), labels_N.repeat_interleave(2), smoothing
    )
    towards_N2V = p_N2V * (ratio_N2V - apart_N2[:, :, None]) + p_N2V - p_N2V.flip(1)
    logits_N2V.add_((weight / 2 * towards_N2V).masked_fill(~real_N1[:, :, None], 0)).div_(2)
    return nll / 2, even / 2, apart_N2.sum() / 2


def _check_labels(labels_N: Tensor, logits: Tensor) -> Tensor:
    """Return the labels as dense 64-bit integers, after checking their number and range."""
    if labels_N.shape != logits.shape[:1]:
        raise ValueError(f"labels {list(labels_N.shape)} for logits {list(logits.shape)}")
    # A GPU would have to wait for the largest label; `Feed` has checked the batch.
    if (
        labels_N.device.type == "cpu"
        and not is_traced(labels_N)
        and labels_N.numel()
        and int(labels_N.max()) >= logits.size(-1)
    ):
        raise IndexError(f"label {int(labels_N.max())} of {logits.size(-1)} tokens")
    return labels_N.long().contiguous()
