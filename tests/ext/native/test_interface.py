"""What Python and the native libraries agree on: errors, structures, and a word before compiling."""

import ctypes
import gc

import pytest
import torch

from headway.ext.native import decoding
from headway.ext.native.decoding import NativeLayer, NativeModel
from headway.ext.native.interface import check_layout
from headway.ext.native.library import failure_reason
from headway.ext.native.native_engine import NativeEngine
from headway.ext.native.training_library import training_library
from support.engines import VOCAB, library, model_of, native

compiled = pytest.mark.skipif(training_library() is None, reason=failure_reason("training"))
HUGE = 1 << 60  # floats: more memory than any machine has


@compiled
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        # Without rows, threads only allocate their buffers: inside the parallel region.
        ("dropout", (None, None, 0, HUGE, 1, 2, 3, 1)),
        ("add_norm", (*[None] * 7, 0, HUGE, 1e-5, 1, 2, 3, 0, 0)),
        ("add_norm_backward", (*[None] * 8, 0, HUGE >> 20, 1, 2, 3, 0, 0)),
        ("entropy", (None, None, 0, HUGE, 0.1, None, 0)),
        ("entropy", (None, None, HUGE, 0, 0.1, None, 0)),
        ("agreement", (None, None, 0, HUGE, 0.1, 1.0, None, 1)),
    ],
)
def test_a_training_function_without_memory_raises_a_memory_error(name, arguments):
    library = training_library()
    assert library is not None
    with pytest.raises(MemoryError, match=f"{name}: no memory is left"):
        getattr(library, name)(*arguments)


@compiled
def test_structures_that_differ_from_cpp_are_rejected():
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


@native
def test_a_native_object_whose_constructor_failed_is_freed():
    """An error in ``__del__`` would be a warning, which fails a test."""
    with pytest.raises(ValueError, match="not in tuple"):
        decoding.PackedLinear(library(), "fp8", torch.ones(2, 2))
    with pytest.raises(IndexError):
        NativeEngine(model_of({}), "fp32", library()).start([[VOCAB]], 1, 5)
    gc.collect()
