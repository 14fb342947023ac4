"""The native functions of a training step, and when they may be used.

`native/training.cpp` holds them; `dropout`, `normalization`, `attention` and `entropy` wrap them.
"""

import ctypes
import functools

import torch
from torch import Tensor, nn

from headway.kernels.build import library

# A letter an argument: p pointer, n a count, u 32 random bits or a threshold, f float, t a type.
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
    "longest_span": "ppnnn",
    "attention_backward": "p" * 9 + "t",
}
TYPES = {torch.float32: 0, torch.bfloat16: 1}


@functools.cache
def functions() -> ctypes.CDLL | None:
    """Return the library with its arguments declared; None without a compiler."""
    found = library("training")
    if found is not None:
        for name, letters in ARGUMENTS.items():
            function = getattr(found, name)
            function.argtypes = [LETTERS[letter] for letter in letters]
            function.restype = ctypes.c_int64 if name == "longest_span" else None
    return found


def native(*tensors: Tensor) -> ctypes.CDLL | None:
    """Return the library if it can take these tensors: on the CPU, float32 or bfloat16."""
    if watched(*tensors):
        return None
    if any(t.device.type != "cpu" or t.dtype not in TYPES for t in tensors):
        return None
    return functions()


def watched(*tensors: Tensor) -> bool:
    """Whether torch traces, transforms or counts what is done: it then has to see the plain twins."""
    return (
        torch.compiler.is_compiling()
        or torch._C._get_tracing_state() is not None
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._functorch.peek_interpreter_stack() is not None
        or any(type(t) not in (Tensor, nn.Parameter) for t in tensors)
    )
