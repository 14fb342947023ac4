"""Dropout masks as functions of a seed: a hash of (seed, counter) gives 16 bits to each of two elements.

The same mask is drawn by native code, by plain torch, and on a GPU. Paper: section 5.4.
"""

from typing import NamedTuple

import torch
from torch import Tensor

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
