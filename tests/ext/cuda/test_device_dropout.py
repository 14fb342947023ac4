"""Dropout on a GPU: its operations draw the mask that a CPU draws, bit for bit."""

from functools import partial

import pytest
import torch

from headway.ext.cuda.dropout import MaskTape, apply_mask_on_device, mask_numbers, plain_product
from headway.ext.cuda.fusion import fuse
from headway.ext.native.native_operations import NativeOperations
from headway.model.ops import PLAIN, Mask

MASK = Mask(0x12345678, 0xFEDCBA98, 6554)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("other", [NativeOperations(), PLAIN])
def test_results_and_gradients_equal_those_of_a_cpu(other, dtype):
    torch.manual_seed(1)
    x, grad = (torch.randn(3, 11, 7).to(dtype) for _ in range(2))

    def apply(function):
        own = x.clone().requires_grad_()
        y = function(own, MASK)
        return [y, *torch.autograd.grad(y, own, grad)]

    for found, expected in zip(apply(apply_mask_on_device), apply(other.apply_mask), strict=True):
        assert found.dtype == dtype
        assert torch.equal(found, expected)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, about itself
def test_the_compiled_kernel_computes_the_same(monkeypatch, caplog):
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    fuse.cache_clear()
    torch.manual_seed(1)
    multiply = fuse(plain_product)
    x_ND = torch.randn(33, 7)
    expected = plain_product(x_ND, mask_numbers([MASK])[0])
    assert torch.equal(multiply(x_ND, mask_numbers([MASK])[0]), expected)
    # Neither other sizes nor other probabilities are compiled again.
    with torch._dynamo.config.patch(error_on_recompile=True):
        for mask, (rows, width) in ((MASK, (21, 64)), (Mask(3, 4, 19661), (5, 11))):
            x_ND = torch.randn(rows, width)
            expected = PLAIN.apply_mask(x_ND, mask)
            assert torch.equal(multiply(x_ND, mask_numbers([mask])[0]), expected)
    assert not [r for r in caplog.records if r.name.startswith("headway")]  # it was compiled


def test_a_tape_gives_a_computation_the_masks_that_it_would_draw_itself():
    x, tape = torch.ones(5, 32), MaskTape()

    def compute():
        first = apply_mask_on_device(x, Mask.draw(0.5))
        return apply_mask_on_device(first, Mask.draw(0.25))

    def compute_from_tape(seed):
        torch.manual_seed(seed)
        tape.draw(x.device)
        torch.manual_seed(99)  # what the computation draws itself does not count
        with tape.reading():
            return compute()

    with tape.listing():
        compute()
    found = [compute_from_tape(seed) for seed in (1, 2, 1)]
    for seed, each in zip((1, 2, 1), found, strict=True):
        torch.manual_seed(seed)
        assert torch.equal(each, compute())
    assert not torch.equal(found[0], found[1])
