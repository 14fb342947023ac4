"""The native functions of a training step, from ``native/training.cpp``."""

import ctypes
import functools

import torch

from headway.ext.native.interface import declare
from headway.ext.native.library import load_library

FUNCTIONS = {  # the letters are those of `headway.ext.native.interface.declare`; types are integers
    "dropout": "ttnnuuui",
    "add_norm": "tttttttnnfuuuii",
    "add_norm_backward": "ttttttttnnuuuii",
    "entropy": "ttnnfti",
    "agreement": "ttnnffti",
    "attention": "pttttti",
    "longest_span": "ttnnnp",
    "attention_backward": "ptttttttti",
}
TYPES = {torch.float32: 0, torch.bfloat16: 1}  # in the order of native/training.cpp


class AttentionArguments(ctypes.Structure):
    """The structure of the same name in native/spans.h."""

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
        declare(library, FUNCTIONS, [AttentionArguments])
    return library


def training_functions() -> ctypes.CDLL:
    """Return the library, where an operation that needs it has been chosen."""
    library = training_library()
    assert library is not None
    return library
