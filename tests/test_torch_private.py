"""Private interfaces of torch: named in one file, and not needed for a right result."""

import re
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

import headway
from headway import torch_private
from headway.ext.native.native_operations import NativeOperations
from headway.model import Embedding
from headway.model.ops import Linear, Mask
from headway.translation.engines.low_precision import int8_linear, quantize

NATIVE = NativeOperations()
SOURCE = Path(headway.__file__).parent
# torch._x, torch.ops other than the public aten, torch.y._x, and the hook dictionaries of modules.
# torch has no public way to count operations: the paper's experiments use _python_dispatch. Pickles of
# others name functions of torch._utils, which are recognized and not called.
PRIVATE = re.compile(
    r"\btorch\._(?!_|utils _rebuild)|\btorch\.ops\.(?!aten\b)|\btorch\.\w+\._(?!python_dispatch)[a-z]"
    r"|\._(forward|backward)\w*_hooks\b|_accumulate_grad_hooks"
    r"|def _(load_from_state_dict|save_to_state_dict|apply|call_impl)\b"
)


CACHED = (torch_private.has_onednn_linear, torch_private._has_int8_product)


@pytest.fixture(autouse=True)
def fresh_tests():
    """Forget afterwards which interfaces exist."""
    yield
    for function in CACHED:
        function.cache_clear()


def test_only_one_file_names_private_interfaces():
    naming = [
        path.name
        for path in SOURCE.rglob("*.py")
        if PRIVATE.search(path.read_text(encoding="utf-8"))
    ]
    assert naming == ["torch_private.py"]


def compute():
    """Return results of all functions that may use private interfaces."""
    torch.manual_seed(1)
    x, weight = torch.randn(300, 13, requires_grad=True), torch.randn(7, 13)
    bias = torch.randn(7, 3)[:, 1]  # oneDNN reads the numbers of a bias one after the other
    y = NATIVE.linear(x, weight, bias)
    found = [y, torch.autograd.grad(y.sin().sum(), x)[0]]
    found += NATIVE.joined_linear(x, [Linear(13, 5), Linear(13, 3)])
    found.append(int8_linear(torch.randn(33, 129) * 9, quantize(torch.randn(17, 129)), None))
    row, other = torch.randn(2, 5, 24)
    found.append(NATIVE.add_norm(row, other, torch.rand(24), torch.randn(24), 1e-5, 0.0))
    found.append(NATIVE.apply_mask(row, Mask(1, 2, 20000)))
    for name, options in EACH.items():
        tensors, others = (
            [torch.randn(size) for size in ((), (3,), (5, 7), (0, 4))] for _ in range(2)
        )
        found += torch_private.for_each(name, tensors, others, **options) or tensors
    return found


def compute_plainly():
    """Return the results that torch's public functions have."""
    torch.manual_seed(1)
    x, weight = torch.randn(300, 13, requires_grad=True), torch.randn(7, 13)
    y = F.linear(x, weight, torch.randn(7, 3)[:, 1])
    found = [y, torch.autograd.grad(y.sin().sum(), x)[0]]
    return [*found, *(each(x) for each in [Linear(13, 5), Linear(13, 3)])]


EACH = {
    "add_": {"alpha": -0.3}, "copy_": {}, "lerp_": {"weight": 0.3}, "lerp": {"weight": 0.3},
}  # fmt: skip
# torch itself needs `torch._C._get_tracing_state`.
MISSING = [
    (torch, "_int_mm"), *((torch, f"_foreach_{name}") for name in EACH), (torch._C, "_len_torch_dispatch_stack"), (torch._C, "_functorch"), (torch._C._functorch, "peek_interpreter_stack"),
]  # fmt: skip


@pytest.mark.parametrize(("owner", "name"), MISSING, ids=[name for _, name in MISSING])
def test_results_are_the_same_without_a_private_interface(owner, name, monkeypatch):
    expected = compute()
    for each, plain in zip(expected, compute_plainly(), strict=False):
        torch.testing.assert_close(each, plain, rtol=1e-5, atol=1e-5)
    for function in CACHED:
        function.cache_clear()
    monkeypatch.delattr(owner, name)
    for each, right in zip(compute(), expected, strict=True):
        torch.testing.assert_close(each, right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("found", [None, lambda x, weight, bias: x @ weight.t()])
def test_onednn_that_is_missing_or_computes_something_else_is_not_used(found, monkeypatch):
    expected = compute()
    assert torch_private.has_onednn_linear()
    torch_private.has_onednn_linear.cache_clear()
    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", found)
    monkeypatch.setattr(torch_private, "onednn_linear", found or torch_private.onednn_linear)
    for each, right in zip(compute(), expected, strict=True):
        torch.testing.assert_close(each, right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "name", ["_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"]
)
def test_each_map_is_called_where_hooks_are_unknown(name):
    maps = [Linear(13, 5), Linear(13, 3)]
    assert not torch_private.may_have_hooks(maps[0])
    delattr(maps[0], name)
    assert torch_private.may_have_hooks(maps[0])


def test_gradient_hooks_are_found_where_torch_lists_them():
    parameter = torch.nn.Parameter(torch.ones(3))
    assert not torch_private.has_gradient_hook(parameter)
    parameter.register_post_accumulate_grad_hook(lambda _: None)
    assert torch_private.has_gradient_hook(parameter)


def test_the_embedding_of_pad_stays_zero_where_gradient_hooks_are_unknown(monkeypatch):
    monkeypatch.setattr("headway.model.embeddings.has_gradient_hook", lambda parameter: False)
    embedding = Embedding(11, 4, 4, scale=1.0)
    embedding.load_state_dict({k: v.clone() for k, v in embedding.state_dict().items()})
    F.embedding(torch.tensor([10, 3]), embedding.weight).sum().backward()
    assert embedding.weight.grad is not None
    assert embedding.weight.grad.any(1).nonzero().tolist() == [[3]]


def test_without_torchs_private_functions_the_processor_counts_as_one_without_bf16(monkeypatch):
    names = "_is_avx512_bf16_supported", "_is_amx_tile_supported"
    for name in names:
        monkeypatch.setattr(torch.cpu, name, lambda: True)
    assert torch_private.has_bf16_instructions()
    for name in names:
        monkeypatch.delattr(torch.cpu, name)
    assert not torch_private.has_bf16_instructions()
