"""Dropout on a GPU with the masks of a CPU: the same seed drops the same elements.

The mask is a dozen operations on integers, which torch compiles into one kernel with the product. The
backward pass computes the mask again. Paper: section 5.4.

Shapes: N rows, D width.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from headway.ext.cuda.fusion import can_fuse, fuse
from headway.model import Mask, mix_bits, move


def apply_mask_on_device(x: Tensor, mask: Mask) -> Tensor:
    """Multiply [..., D], which is not empty, with a mask's factors, on the device of x."""
    numbers = _numbers_on_device.get()(mask, x.device)
    return _DeviceDropout.apply(x, numbers)  # type: ignore[no-untyped-call]


def mask_numbers(masks: Sequence[Mask]) -> Tensor:
    """Return all that masks depend on as the rows of a tensor: seed, threshold and factor of each.

    They are not arguments of the compiled function, which would be compiled again for other numbers, or
    would divide less exactly than a processor. 64-bit floats hold these integers exactly.
    """
    rows = [(mask.low, mask.high, mask.threshold, mask.factor) for mask in masks]
    return torch.tensor(rows, dtype=torch.float64).view(-1, 4)


def _upload(mask: Mask, device: torch.device) -> Tensor:
    return move(mask_numbers([mask]), device)[0]


# How a computation gets the numbers of its next mask; `MaskTape` changes it.
_numbers_on_device: ContextVar[Callable[[Mask, torch.device], Tensor]] = ContextVar(
    "numbers_on_device", default=_upload
)


class MaskTape:
    """The masks of a computation that is recorded once and replayed with other masks.

    Its tensor stays the same, and its numbers are drawn for each replay, in the order in which the ordinary
    computation draws them.

    Attributes:
        masks: Those of the ordinary computation, in its order.
    """

    def __init__(self) -> None:
        self.masks: list[Mask] = []
        self._numbers = torch.empty(0, 4)

    @contextmanager
    def listing(self) -> Iterator[None]:
        """List the masks of the ordinary computation that runs meanwhile."""

        def add(mask: Mask, device: torch.device) -> Tensor:
            self.masks.append(mask)
            return _upload(mask, device)

        with self._giving(add):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let the computation that runs meanwhile read its masks from the tape."""
        rows = iter(self._numbers)
        with self._giving(lambda mask, device: next(rows)):
            yield

    def draw(self, device: torch.device) -> None:
        """Draw the masks for the next replay."""
        numbers = move(mask_numbers([mask.draw_again() for mask in self.masks]), device)
        if len(self._numbers):
            self._numbers.copy_(numbers)
        else:
            self._numbers = numbers

    @contextmanager
    def _giving(self, numbers: Callable[[Mask, torch.device], Tensor]) -> Iterator[None]:
        token = _numbers_on_device.set(numbers)
        try:
            yield
        finally:
            _numbers_on_device.reset(token)


class _DeviceDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, numbers: Tensor) -> Tensor:
        ctx.save_for_backward(numbers)
        return _multiply(x, numbers)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (numbers,) = ctx.saved_tensors
        return _multiply(grads[0], numbers), None


def _multiply(x: Tensor, numbers: Tensor) -> Tensor:
    multiply = fuse(plain_product) if can_fuse(x) else plain_product
    return multiply(x.detach().reshape(-1, x.size(-1)), numbers).view_as(x)


def plain_product(x_ND: Tensor, numbers: Tensor) -> Tensor:
    """Multiply elements with the factors of a mask, given by its `mask_numbers`."""
    low, high, threshold = numbers[:3].long().unbind()
    rows, width = x_ND.shape
    half = (width + 1) // 2
    row_N1 = torch.arange(rows, device=x_ND.device)[:, None]
    column_D = torch.arange(width, device=x_ND.device)
    is_high_D = column_D >= half  # the second half takes the upper 16 bits
    counter_ND = row_N1 * half + column_D - torch.where(is_high_D, half, 0)
    bits_ND = mix_bits(counter_ND, low, high)
    lanes_ND = torch.where(is_high_D, bits_ND >> 16, bits_ND & 0xFFFF)
    factors_ND = torch.where(lanes_ND >= threshold, numbers[3].float(), 0.0)
    wide_ND = x_ND.to(torch.promote_types(x_ND.dtype, torch.float32))  # as native code multiplies
    return (wide_ND * factors_ND).to(x_ND.dtype)
