"""Attention of packed rows on a GPU: torch's kernel for sentences of any lengths.

The kernel takes cumulative lengths, so it computes no pair of two sentences, and its work does not depend
on a mask. The lengths of queries and keys differ in encoder-decoder attention.

Shapes: H heads, T queries and S keys of a row, K d_k, V d_v. Paper: section 3.2.1.
"""

from torch import Tensor
from torch.nn import functional as F

from headway.model import Visibility

WIDTH_UNIT = 8  # the kernel takes multiples of it


def varlen_attention(
    q_1HTK: Tensor, k_1HSK: Tensor, v_1HSV: Tensor, visibility: Visibility, scale: float
) -> Tensor:
    """Return softmax(scale Q K^T) V for each sentence, [1, H, T, V], of rows whose bounds are known.

    A query whose sentence has no keys, which only padding can be, gets zeros. The kernel has one width for keys and
    values. Zeros that fill them up change neither scores nor values.
    """
    from torch.nn.attention.varlen import varlen_attn  # most processes never need it

    assert visibility.packings is not None
    queries, keys = visibility.packings
    window = (
        visibility.positions_before if visibility.window else -1,
        visibility.positions_after if visibility.window or visibility.is_causal else -1,
    )
    d_v = v_1HSV.size(-1)
    width = -(-max(q_1HTK.size(-1), d_v) // WIDTH_UNIT) * WIDTH_UNIT
    q, k, v = (
        x if x.size(-1) == width else F.pad(x, (0, width - x.size(-1)))
        for x in (x.squeeze(0).transpose(0, 1) for x in (q_1HTK, k_1HSK, v_1HSV))
    )
    y_THW = varlen_attn(
        q, k, v, queries.bounds, keys.bounds, queries.longest, keys.longest,
        scale=scale, window_size=window,
    )  # fmt: skip
    assert isinstance(y_THW, Tensor)
    return y_THW[..., :d_v].transpose(0, 1)[None]
