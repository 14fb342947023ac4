"""Private interfaces of torch: named in one file, and not needed for a right result."""

import re
from collections.abc import Iterator
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


@pytest.fixture(autouse=True)
def fresh_tests() -> Iterator[None]:
    """Forget which interfaces exist, before and after."""
    cached = (
        torch_private.has_onednn_linear,
        torch_private._has_int8_product,
    )
    for function in cached:
        function.cache_clear()
    yield
    for function in cached:
        function.cache_clear()


@pytest.mark.slow
def test_only_one_file_names_private_interfaces() -> None:
    naming = [
        path.name
        for path in SOURCE.rglob("*.py")
        if PRIVATE.search(path.read_text(encoding="utf-8"))
    ]
    assert naming == ["torch_private.py"]


def test_products_without_onednn_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(1)
    x, weight, bias = torch.randn(300, 13, requires_grad=True), torch.randn(7, 13), torch.randn(7)

    def product_and_gradient() -> list[torch.Tensor]:
        y = NATIVE.linear(x, weight, bias)
        return [y, torch.autograd.grad(y.sin().sum(), x)[0]]

    assert torch_private.has_onednn_linear()
    by_onednn = product_and_gradient()
    torch_private.has_onednn_linear.cache_clear()

    def missing(*_: object) -> None:
        raise AttributeError("_linear_pointwise")

    monkeypatch.setattr(torch_private, "onednn_linear", missing)
    assert not torch_private.has_onednn_linear()
    for plain, private in zip(product_and_gradient(), by_onednn, strict=True):
        torch.testing.assert_close(plain, private, rtol=1e-5, atol=1e-5)
    maps = [Linear(13, 5), Linear(13, 3)]
    for y, each in zip(NATIVE.joined_linear(x, maps), maps, strict=True):
        assert torch.equal(y, F.linear(x, each.weight, each.bias))


def test_onednn_that_computes_something_else_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_private, "onednn_linear", lambda x, weight, bias: x @ weight.t())
    assert not torch_private.has_onednn_linear()


def test_onednn_reads_a_bias_of_any_stride() -> None:
    x, weight = torch.randn(300, 5), torch.randn(4, 5)
    bias = torch.randn(4, 3)[:, 1]
    expected = F.linear(x, weight, bias)
    torch.testing.assert_close(NATIVE.linear(x, weight, bias), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_int8_products_without_torchs_private_one_are_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(1)
    x, weight = torch.randn(33, 129) * 9, torch.randn(17, 129)
    assert torch_private._has_int8_product()
    found = int8_linear(x, quantize(weight), None)
    monkeypatch.delattr(torch, "_int_mm")
    torch_private._has_int8_product.cache_clear()
    assert not torch_private._has_int8_product()
    assert torch.equal(int8_linear(x, quantize(weight), None), found)


EACH: dict[str, dict[str, float]] = {
    "add_": {"alpha": -0.3},
    "copy_": {},
    "lerp_": {"weight": 0.3},
    "lerp": {"weight": 0.3},
}


@pytest.mark.parametrize("name", EACH)
def test_many_tensors_are_changed_alike_without_torchs_private_operation(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(1)
    sizes = [(), (3,), (5, 7), (0, 4), (2,)]
    before, others = ([torch.randn(size) for size in sizes] for _ in range(2))
    found, plain = ([tensor.clone() for tensor in before] for _ in range(2))
    found = torch_private.for_each(name, found, others, **EACH[name]) or found
    monkeypatch.delattr(torch, f"_foreach_{name}")
    plain = torch_private.for_each(name, plain, others, **EACH[name])
    expected = {
        "add_": [b - 0.3 * o for b, o in zip(before, others, strict=True)],
        "copy_": others,
    }.get(name, [b + 0.3 * (o - b) for b, o in zip(before, others, strict=True)])
    for each, one, right in zip(found, plain, expected, strict=True):
        assert torch.equal(each, one)
        torch.testing.assert_close(each, right)


def test_native_functions_are_not_used_where_tracing_is_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(1)
    x, y = torch.randn(5, 24), torch.randn(5, 24)
    weight, bias = torch.rand(24), torch.randn(24)
    mask = Mask(1, 2, 20000)

    def results() -> list[torch.Tensor]:
        return [NATIVE.add_norm(x, y, weight, bias, 1e-5, 0.0), NATIVE.apply_mask(x, mask)]

    assert not torch_private.is_traced(x)
    native = results()
    for owner, name in (
        (torch._C, "_get_tracing_state"),
        (torch._C, "_len_torch_dispatch_stack"),
        (torch._C, "_functorch"),
        (torch._C._functorch, "peek_interpreter_stack"),
    ):
        with monkeypatch.context() as patch:
            patch.delattr(owner, name)
            assert torch_private.is_traced(x)
            for plain, fast in zip(results(), native, strict=True):
                torch.testing.assert_close(plain, fast, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "name", ["_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"]
)
def test_each_map_is_called_where_hooks_are_unknown(name: str) -> None:
    maps = [Linear(13, 5), Linear(13, 3)]
    assert not torch_private.may_have_hooks(maps[0])
    x = torch.randn(300, 13)
    together = NATIVE.joined_linear(x, maps)
    for each in maps:
        delattr(each, name)
    assert torch_private.may_have_hooks(maps[0])
    with pytest.MonkeyPatch.context() as patch:
        called = []
        patch.setattr(Linear, "__call__", lambda self, x: called.append(self) or self.forward(x))
        for one, other in zip(NATIVE.joined_linear(x, maps), together, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    assert called == maps


def test_gradient_hooks_are_found_where_torch_lists_them() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    assert not torch_private.has_gradient_hook(parameter)
    parameter.register_post_accumulate_grad_hook(lambda _: None)
    assert torch_private.has_gradient_hook(parameter)


def test_the_embedding_of_pad_stays_zero_where_gradient_hooks_are_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("headway.model.embeddings.has_gradient_hook", lambda parameter: False)
    embedding = Embedding(11, 4, 4, scale=1.0)
    embedding.load_state_dict({k: v.clone() for k, v in embedding.state_dict().items()})
    F.embedding(torch.tensor([10, 3]), embedding.weight).sum().backward()
    assert embedding.weight.grad is not None
    assert embedding.weight.grad.any(1).nonzero().tolist() == [[3]]


def test_without_torchs_private_functions_the_processor_counts_as_one_without_bf16(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = "_is_avx512_bf16_supported", "_is_amx_tile_supported"
    for name in names:
        monkeypatch.setattr(torch.cpu, name, lambda: True)
    assert torch_private.has_bf16_instructions()
    for name in names:
        monkeypatch.delattr(torch.cpu, name)
    assert not torch_private.has_bf16_instructions()
