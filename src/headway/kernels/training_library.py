"""The native functions of a training step, from ``native/training.cpp``, and when they apply."""

import ctypes
import functools

import torch
from torch import Tensor

from headway.kernels.build import load_library
from headway.kernels.interface import check_layout, raise_error
from headway.kernels.torch_private import is_traced

# A letter for each argument: p pointer, n count, u 32 random bits or a threshold, f float, t type.
LETTERS = {
    "p": ctypes.c_void_p,
    "n": ctypes.c_int64,
    "u": ctypes.c_uint32,
    "f": ctypes.c_float,
    "t": ctypes.c_int,
}
ARGUMENTS = {
    "dropout": "ppnnuuut",
    "add_norm": "pppppppnnfuuutt",
    "add_norm_backward": "ppppppppnnuuutt",
    "entropy": "ppnnfpt",
    "agreement": "ppnnffpt",
    "attention": "ppppppt",
    "longest_span": "ppnnnp",
    "attention_backward": "p" * 9 + "t",
}
TYPES = {torch.float32: 0, torch.bfloat16: 1}  # in the order of native/training.cpp


class AttentionArguments(ctypes.Structure):
    """The structure of the same name in native/attention.h."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("B", "H", "T", "S", "K", "V")),
        *(
            (f"{tensor}_{axis}", ctypes.c_int64)
            for tensor in ("q", "k", "v")
            for axis in ("batch", "position", "head")
        ),
        ("query_segments", ctypes.c_void_p),
        ("key_segments", ctypes.c_void_p),
        ("keys_before", ctypes.c_int64),
        ("keys_after", ctypes.c_int64),
        ("scale", ctypes.c_float),
    ]


@functools.cache
def training_library() -> ctypes.CDLL | None:
    """Return the library with its arguments declared; None where it cannot be built."""
    library = load_library("training")
    if library is not None:
        check_layout(library, [AttentionArguments])
        for name, letters in ARGUMENTS.items():
            function = getattr(library, name)
            function.argtypes = [LETTERS[letter] for letter in letters]
            function.restype, function.errcheck = ctypes.c_int, raise_error
    return library


def supporting_library(*tensors: Tensor) -> ctypes.CDLL | None:
    """Return the library if it can take these tensors: on the CPU, float32 or bfloat16, not traced."""
    if is_traced(*tensors):
        return None
    if any(t.device.type != "cpu" or t.dtype not in TYPES for t in tensors):
        return None
    return training_library()
