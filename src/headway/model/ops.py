"""The operations that a faster implementation may replace, in plain torch, and the table of implementations by device.

The modules ask for each operation: ``operations_of(x).linear(x, weight, bias)``. Headway's native code for processors
and its compiled kernels for GPUs are subclasses of `Operations`, which extensions bring.

Shapes: I inputs, O outputs, D d_model, B batch, H heads, T queries, S keys, K d_k, V d_v or vocabulary, N labels.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway import extension
from headway.model import plain_attention
from headway.model.visibility import Visibility
from headway.torch_private import is_traced

WORD = 0xFFFFFFFF


class Mask(NamedTuple):
    """The seed of a dropout mask.

    Attributes:
        low: 32 bits of the seed.
        high: The other 32.
        threshold: 65,536 p, rounded; an element is dropped if its 16 random bits are below it.
    """

    low: int
    high: int
    threshold: int

    @classmethod
    def draw(cls, p: float) -> "Mask":
        """Take a seed from torch's generator, which a resumed run restores."""
        if not 0 <= p < 1:
            raise ValueError(f"dropout = {p} must be at least 0 and below 1")
        threshold = min(round(p * 65536), 65535)  # 65,536 would make the factor 1 / 0
        return cls(0, 0, threshold).draw_again() if threshold else cls(0, 0, 0)

    def draw_again(self) -> "Mask":
        """Take another seed, for the same probability."""
        seed = int(torch.empty((), dtype=torch.int64).random_())
        return Mask(seed & WORD, seed >> 32, self.threshold)

    @property
    def factor(self) -> float:
        """What an element is multiplied with that is not dropped: 1 / (1 - p)."""
        return 65536 / (65536 - self.threshold)

    def factors(self, rows: int, width: int, device: torch.device | str = "cpu") -> Tensor:
        """Draw the mask in plain torch: 0 or 1 / (1 - p) for each element, [rows, width]."""
        if self.threshold == 0:
            return torch.ones(rows, width, device=device)
        half = -(-width // 2)
        counter = torch.arange(rows * half, device=device).view(rows, half)
        bits = mix_bits(counter, self.low, self.high)
        lanes = torch.cat((bits & 0xFFFF, bits >> 16), 1)[:, :width]
        return (lanes >= self.threshold) * self.factor


def mix_bits(counter: Tensor, low: int | Tensor, high: int | Tensor) -> Tensor:
    """Return 32 random bits of a seed for each counter: `random_bits` of native/numbers.h in int64."""
    x = (counter & WORD) ^ low
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & WORD
    x = ((x ^ (x >> 15) ^ high) * 0x846CA68B) & WORD
    x = ((x ^ (x >> 16)) * 0x9E3779B1) & WORD
    return x ^ (x >> 15)


class Operations:
    """The operations in plain torch, for every device.

    A subclass overrides what it computes faster. An override takes the same arguments, and returns what ``super()``
    returns for those that it cannot compute. Results are equal up to rounding; dropout masks are equal.
    """

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """Return x W^T + b: [..., I] becomes [..., O], with a weight [O, I]."""
        return F.linear(x, weight, bias)

    def joined_linear(self, x: Tensor, maps: Sequence[nn.Module]) -> tuple[Tensor, ...]:
        """Apply several linear maps to one input, such as those to queries, keys and values (section 3.2.2)."""
        return tuple(each(x) for each in maps)

    def dropout(self, x: Tensor, p: float) -> Tensor:
        """Set each element to zero with probability p, and divide the others by 1 - p (section 5.4)."""
        if p == 0:
            return x
        if is_traced(x):
            return F.dropout(x, p)
        mask = Mask.draw(p)
        return self.apply_mask(x, mask) if mask.threshold and x.numel() else x

    def apply_mask(self, x: Tensor, mask: Mask) -> Tensor:
        """Multiply [..., D], which is not empty, with the factors of a dropout mask."""
        factors = mask.factors(x.numel() // x.size(-1), x.size(-1), x.device).view_as(x)
        return (x * factors).to(x.dtype)

    def add_norm(
        self, x: Tensor, y: Tensor, weight: Tensor, bias: Tensor, epsilon: float, p: float
    ) -> Tensor:
        """Return LayerNorm(x + Dropout(y)), [..., D] (sections 3.1 and 5.4).

        Args:
            x: The input of a sub-layer.
            y: Its output; the result has its type.
            weight: Gain, [D].
            bias: [D].
            epsilon: Added to the variance.
            p: Dropout on y.
        """
        return F.layer_norm(x + self.dropout(y, p), weight.shape, weight, bias, epsilon).to(y.dtype)

    def attention(
        self, q: Tensor, k: Tensor, v: Tensor, visibility: Visibility, scale: float, p: float = 0.0
    ) -> Tensor:
        """Return softmax(scale Q K^T) V, [B, H, T, V] (section 3.2.1, equation 1).

        There are four ways to compute it. The first that fits is taken:

        1. Stored weights: at most 256 keys, and no gradient on a GPU.
        2. Stored weights, a block at a time: weights are dropped, or d_k is not d_v. torch's fused
           kernel would store all pairs then.
        3. torch's fused kernel, a block at a time: the mask differs from query to query.
        4. torch's fused kernel, once: only padding or only the future is hidden.

        Args:
            q: Queries, [B, H, T, K].
            k: Keys, [B, H, S, K].
            v: Values, [B, H, S, V].
            visibility: Which query may attend to which key.
            scale: Multiplies the compatibilities.
            p: Dropout on the weights.
        """
        is_short = k.size(-2) <= plain_attention.LONGEST_STORED
        if q.requires_grad and q.device.type != "cpu":
            # Stored weights would be most of the memory, and not those of the largest batch.
            is_short = False
        if is_short or p or q.size(-1) != v.size(-1):
            weights = partial(plain_attention.dot_product_weights, scale=scale)
            return plain_attention.attend_by_weights(weights, q, k, v, visibility, p)
        fused = partial(plain_attention.fused_attention, scale=scale)
        from headway.model.blockwise import attend_in_blocks, attend_in_window

        if visibility.window:
            return attend_in_window(fused, q, k, v, visibility)
        if visibility.is_packed or (visibility.is_causal and visibility.keys is not None):
            return attend_in_blocks(fused, q, k, v, visibility)
        # A mask of the keys alone hides the padding. What a padded query attends to is never read.
        keys = visibility.keys
        mask = None if keys is None else (keys.ids == 1)[:, None, None, :]
        return fused(q, k, v, mask, is_causal=visibility.is_causal)

    def cross_entropy_(
        self, logits_NV: Tensor, labels_N: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        """Turn logits into the gradient of their summed smoothed cross entropy, in place (section 5.4).

        Args:
            logits_NV: [N, V]; the gradient afterwards.
            labels_N: Right tokens, [N]; negative for padding, which counts for nothing.
            smoothing: Epsilon, spread evenly over the vocabulary.

        Returns:
            Two cross entropies, summed over the rows, in nats: with the right tokens, and with an even
            distribution; the loss is (1 - epsilon) of the first and epsilon of the second.
        """
        labels_N = check_labels(labels_N, logits_NV)
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

    def agreement_(
        self, logits_N2V: Tensor, labels_N: Tensor, smoothing: float, weight: float
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
        labels_N = check_labels(labels_N, logits_N2V)
        real_N1 = (labels_N >= 0)[:, None]
        wide = torch.promote_types(logits_N2V.dtype, torch.float32)
        log_p_N2V = logits_N2V.to(wide).log_softmax(2)
        ratio_N2V = log_p_N2V - log_p_N2V.flip(1)  # of each prediction to the other
        p_N2V = log_p_N2V.exp()
        apart_N2 = ((p_N2V * ratio_N2V).sum(2)).masked_fill(~real_N1, 0)
        nll, even = self.cross_entropy_(
            logits_N2V.view(-1, logits_N2V.size(2)), labels_N.repeat_interleave(2), smoothing
        )
        towards_N2V = p_N2V * (ratio_N2V - apart_N2[:, :, None]) + p_N2V - p_N2V.flip(1)
        logits_N2V.add_((weight / 2 * towards_N2V).masked_fill(~real_N1[:, :, None], 0)).div_(2)
        return nll / 2, even / 2, apart_N2.sum() / 2


def check_labels(labels_N: Tensor, logits: Tensor) -> Tensor:
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


PLAIN = Operations()
_installed: dict[str, Operations] = {}  # by type of device


def operations_of(x: Tensor) -> Operations:
    """Return the operations of a tensor's device; the first call for a type of device finds them."""
    device_type = x.device.type
    return _installed.get(device_type) or _find(device_type)


def install(device_type: str, operations: Operations) -> None:
    """Let all models on a type of device compute with these operations from now on."""
    _installed[device_type] = operations


def _find(device_type: str) -> Operations:
    """Install the operations that an extension has for a type of device, or else the plain ones, and return them."""
    if torch.compiler.is_compiling():  # a compiler needs plain torch, and cannot import
        return PLAIN
    install(device_type, extension.make_operations(device_type) or PLAIN)
    return _installed[device_type]


class Linear(nn.Linear):
    """torch's own module, with the linear map of the input's device."""

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., I] to [..., O]."""
        return operations_of(x).linear(x, self.weight, self.bias)


class Dropout(nn.Module):
    """Dropout while training (paper: section 5.4).

    Args:
        p: Probability that an element is set to zero.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Apply it to [..., D]."""
        return operations_of(x).dropout(x, self.p) if self.training else x
