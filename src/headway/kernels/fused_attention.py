"""torch's fused attention, which walks over the keys in blocks and stores no weights.

Shapes: B batch, H heads, T queries, S keys, K width of queries and keys, V width of values.
"""

from contextlib import nullcontext

from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

# On an H100 torch prefers cuDNN's kernel, which plans again for every new shape. That takes tens or hundreds
# of milliseconds, and nearly every padded batch has new shapes.
ON_A_GPU = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


def fused_attention(
    q_BHTK: Tensor,
    k_BHSK: Tensor,
    v_BHSV: Tensor,
    allowed: Tensor | None,
    scale: float | None = None,
    *,
    is_causal: bool = False,
) -> Tensor:
    """Return softmax(scale Q K^T) V, [B, H, T, V].

    Args:
        q_BHTK: Queries.
        k_BHSK: Keys.
        v_BHSV: Values.
        allowed: Broadcasts to [B, H, T, S]; True: the query may attend to the key.
        scale: Multiplies the compatibilities; None: 1 / sqrt(d_k).
        is_causal: Hide keys after the query; only without ``allowed``.
    """
    with nullcontext() if q_BHTK.device.type == "cpu" else sdpa_kernel(ON_A_GPU):
        return F.scaled_dot_product_attention(
            q_BHTK, k_BHSK, v_BHSV, allowed, is_causal=is_causal, scale=scale
        )
