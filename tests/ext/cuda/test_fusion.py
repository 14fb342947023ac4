"""Functions that torch compiles for a GPU, and what takes their place where it cannot."""

import pytest
import torch

from headway.ext.cuda import fusion
from headway.ext.cuda.dropout import apply_mask_on_device
from headway.model.ops import PLAIN, Mask


@pytest.fixture(autouse=True)
def fresh_functions():
    """Forget which functions were compiled, before and after."""
    fusion.fuse.cache_clear()
    yield
    fusion.fuse.cache_clear()


def failing_compiler(error):
    def compiled(*_):
        raise error

    return lambda function, dynamic: compiled


def test_without_a_compiler_the_plain_function_is_called_and_one_warning_says_why(
    monkeypatch, caplog
):
    missing = RuntimeError("Failed to find C compiler. Please specify via CC\nSet TORCHDYNAMO...")
    monkeypatch.setattr(torch, "compile", failing_compiler(missing))
    monkeypatch.setattr("headway.ext.cuda.dropout.can_fuse", lambda x: True)
    mask = Mask(5, 7, 6554)
    for _ in range(3):
        x = torch.randn(11, 6, requires_grad=True)
        y = apply_mask_on_device(x, mask)
        assert torch.equal(y, PLAIN.apply_mask(x, mask))
        (gradient,) = torch.autograd.grad(y.sum(), x)
        assert torch.equal(gradient * x, y)
    [record] = caplog.records
    assert record.getMessage().endswith(
        "compile a kernel: Failed to find C compiler. Please specify via CC"
    )


def test_memory_that_runs_out_is_no_reason_to_compute_otherwise(monkeypatch, caplog):
    full = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 3 GiB")
    monkeypatch.setattr(torch, "compile", failing_compiler(full))
    with pytest.raises(torch.OutOfMemoryError):
        fusion.fuse(torch.neg)(torch.ones(2))
    assert not caplog.records


def test_a_plain_twin_takes_the_place_of_a_function_that_is_slow_when_it_is_not_compiled(
    monkeypatch,
):
    monkeypatch.setattr(torch, "compile", failing_compiler(ValueError()))
    assert fusion.fuse(torch.neg, torch.abs)(torch.tensor(-3.0)) == 3
