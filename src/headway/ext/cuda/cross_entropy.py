"""Label-smoothed cross entropy that overwrites the logits by its gradient, for a GPU (paper: section 5.4)."""

import torch
from torch import Tensor


def fusible_cross_entropy_(
    logits_NV: Tensor, labels_N: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Compute `Operations.cross_entropy_` in a form that compiles into few kernels, which store no probabilities."""
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
