"""What Python and the native libraries agree on: errors, structures, and a word before compiling."""

import ctypes
import gc
import sys
from typing import Any, cast

import pytest
import torch

from headway.ext.native import decoding
from headway.ext.native.decoding import NativeLayer, NativeModel
from headway.ext.native.hypotheses import NativeHypotheses
from headway.ext.native.interface import check_layout, raise_error
from headway.ext.native.library import failure_reason
from headway.ext.native.training_library import AttentionArguments, training_library

compiled = pytest.mark.skipif(training_library() is None, reason=failure_reason("training"))
HUGE = 1 << 60  # floats: more memory than any machine has
NONE = ctypes.c_void_p()


@compiled
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        # Without rows, threads only allocate their buffers: inside the parallel region.
        ("dropout", (NONE, NONE, 0, HUGE, 1, 2, 3, 0)),
        ("dropout", (NONE, NONE, 0, HUGE, 1, 2, 3, 1)),
        ("add_norm", (*[NONE] * 7, 0, HUGE, 1e-5, 1, 2, 3, 0, 0)),
        ("add_norm_backward", (*[NONE] * 8, 0, HUGE >> 20, 1, 2, 3, 0, 0)),
        ("entropy", (NONE, NONE, 0, HUGE, 0.1, NONE, 0)),
        ("entropy", (NONE, NONE, HUGE, 0, 0.1, NONE, 0)),
        ("agreement", (NONE, NONE, 0, HUGE, 0.1, 1.0, NONE, 1)),
    ],
)
def test_a_training_function_without_memory_raises_a_memory_error(
    name: str, arguments: tuple[object, ...]
) -> None:
    library = training_library()
    assert library is not None
    with pytest.raises(MemoryError, match=f"{name}: no memory is left"):
        getattr(library, name)(*arguments)


@compiled
def test_attention_without_memory_raises_a_memory_error() -> None:
    library = training_library()
    assert library is not None
    arguments = AttentionArguments(B=1, H=0, T=1 << 40, S=1 << 40, K=16, V=16, scale=1.0)
    at = ctypes.addressof(arguments)
    with pytest.raises(MemoryError, match="attention: no memory"):
        library.attention(at, *[NONE] * 5, 0)
    with pytest.raises(MemoryError, match="attention_backward: no memory"):
        library.attention_backward(at, *[NONE] * 8, 1)
    x = torch.randn(3, 5)
    y = torch.empty_like(x)  # the library works as before
    library.dropout(x.data_ptr(), y.data_ptr(), 3, 5, 1, 2, 0, 0)
    assert torch.equal(x, y)


@compiled
@pytest.mark.parametrize("outputs", [1 << 50, 1 << 61])
def test_a_linear_map_without_memory_raises_a_memory_error(outputs: int) -> None:
    library = decoding.library()
    assert library is not None
    pointer = ctypes.c_void_p()
    with pytest.raises(MemoryError, match="linear_new: no memory"):
        library.linear_new(0, NONE, NONE, outputs, 1, ctypes.byref(pointer))
    assert not pointer


def test_each_status_raises_its_error() -> None:
    function = decoding.library
    assert raise_error(0, function, ()) == 0
    for status, error in ((1, IndexError), (2, MemoryError), (3, RuntimeError), (9, RuntimeError)):
        with pytest.raises(error, match="library: "):
            raise_error(status, function, ())


@compiled
def test_structures_that_differ_from_cpp_are_rejected() -> None:
    library = decoding.library()
    assert library is not None
    check_layout(library, [NativeLayer, NativeModel])

    class Shorter(ctypes.Structure):
        _fields_ = NativeLayer._fields_[:-1]

    class Shifted(ctypes.Structure):  # the right size, two fields exchanged with a smaller one
        _fields_ = (("extra", ctypes.c_int32), *NativeModel._fields_[1:], NativeModel._fields_[0])

    with pytest.raises(RuntimeError, match=r"Shorter: size is 56 in Python and 104 in native"):
        check_layout(library, [Shorter, NativeModel])
    with pytest.raises(RuntimeError, match="Shifted: "):
        check_layout(library, [NativeLayer, Shifted])


@pytest.mark.slow
def test_a_native_object_whose_constructor_failed_is_freed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    freed: list[object] = []
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)

    class Library:
        def linear_free(self, pointer: object) -> None:
            freed.append(pointer)

        def state_free(self, pointer: object) -> None:
            freed.append(pointer)

    library: Any = Library()
    weight, model, sources = cast(Any, "weight"), cast(Any, None), [["word"]]
    with pytest.raises(AttributeError):
        decoding.PackedLinear(library, "fp32", weight)
    with pytest.raises(AttributeError):
        NativeHypotheses(library, model, cast(Any, sources), 1, 1, [])
    gc.collect()
    assert not ignored
    assert len(freed) == 2
    assert not any(freed)
