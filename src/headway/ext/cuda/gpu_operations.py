"""The operations of a GPU: kernels that torch compiles, and its attention of packed rows; and which inputs they take."""

import torch
from torch import Tensor

from headway.ext.cuda.cross_entropy import fusible_cross_entropy_
from headway.ext.cuda.dropout import apply_mask_on_device
from headway.ext.cuda.fusion import can_fuse, fuse
from headway.ext.cuda.varlen_attention import varlen_attention
from headway.model import Mask, Operations, Visibility, check_labels
from headway.torch_private import is_traced

# What torch's attention of packed rows takes.
VARLEN_TYPES = (torch.bfloat16, torch.float16)
LARGEST_WIDTH = 256  # of a head


class GpuOperations(Operations):
    """Operations for GPUs."""

    def apply_mask(self, x: Tensor, mask: Mask) -> Tensor:
        """Multiply [..., D] with the factors of a dropout mask, which is drawn on the GPU and not stored."""
        return apply_mask_on_device(x, mask)

    def attention(
        self, q: Tensor, k: Tensor, v: Tensor, visibility: Visibility, scale: float, p: float = 0.0
    ) -> Tensor:
        """Return softmax(scale Q K^T) V, [B, H, T, V]; of packed rows with bounds one sentence at a time."""
        if p or not fits_varlen(q, k, v, visibility):
            return super().attention(q, k, v, visibility, scale, p)
        return varlen_attention(q, k, v, visibility, scale)

    def cross_entropy_(
        self, logits_NV: Tensor, labels_N: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        """Turn logits into the gradient of their cross entropy by few kernels, in place."""
        if not can_fuse(logits_NV) or is_traced(logits_NV):
            return super().cross_entropy_(logits_NV, labels_N, smoothing)
        compute = fuse(fusible_cross_entropy_, super().cross_entropy_)
        return compute(logits_NV, check_labels(labels_N, logits_NV), smoothing)


def fits_varlen(q: Tensor, k: Tensor, v: Tensor, visibility: Visibility) -> bool:
    """Whether `varlen_attention` can compute these: packed rows with bounds, in a type and width of the kernel.

    Args:
        q: Queries, [1, H, T, K].
        k: Keys, [1, H, S, K].
        v: Values, [1, H, S, V].
        visibility: Which query may attend to which key.
    """
    return (
        visibility.packings is not None
        and q.size(0) == k.size(0) == 1
        and q.dtype in VARLEN_TYPES
        and max(q.size(-1), v.size(-1)) <= LARGEST_WIDTH
        # The kernel needs tensor cores for bf16, which GPUs have from this generation on.
        and (not q.is_cuda or torch.cuda.get_device_capability(q.device) >= (8, 0))
    )
