"""Step-by-step translation in native code: the functions of ``native/decoding.cpp``.

The structures have the fields of those in ``native/transformer.h``. The caller keeps alive all that
their pointers lead to.
"""

import ctypes
from ctypes import POINTER, c_double, c_int64, c_void_p

from torch import Tensor

from headway.ext.native.interface import declare
from headway.ext.native.library import load_library

PRECISIONS = ("fp32", "bf16", "int8")  # in the order of native/linear.h
ACTIVATIONS = ("none", "relu", "gelu", "swish")  # in the order of native/vector.h
LANES = 16  # numbers of a vector; the width of a head is padded to a multiple
PANEL = 32  # outputs computed together; the width of a row is padded to a multiple


class NativeLayer(ctypes.Structure):
    """The weights of a layer; an encoder layer has no ``cross_`` maps."""

    _fields_ = (
        *((name, c_void_p) for name in (
            "query_key_value", "output", "cross_query", "cross_key_value", "cross_output",
            "inner", "outer",
        )),
        ("norms", (c_void_p * 2) * 3),
    )  # fmt: skip


class NativeModel(ctypes.Structure):
    """The shape of a model and the addresses of its weights."""

    _fields_ = (
        *((name, c_int64) for name in (
            "d_model", "d_ff", "heads", "d_k", "d_v", "encoder_layers", "decoder_layers",
            "pre_norm", "activation", "source_vocab", "target_vocab",
        )),
        *((name, c_double) for name in ("epsilon", "attention_scale", "embedding_scale")),
        ("encoder", POINTER(NativeLayer)),
        ("decoder", POINTER(NativeLayer)),
        ("source_table", c_void_p),
        ("target_table", c_void_p),
        ("final_norms", (c_void_p * 2) * 2),
        ("logits", c_void_p),
    )  # fmt: skip


FUNCTIONS = {  # the letters are those of `headway.ext.native.interface.declare`
    "linear_new": "ittnnp",
    "linear_apply": "ptnt",
    "state_new": "pppnnnttp",
    "state_restrict": "ppp",
    "state_select": "pppnppppnp",
    "states_select": "pnpnpnppppnp",
    "state_logits": "ppt",
    "state_read": "ppppnnpn",
    "state_reorder": "ppn",
    "state_keep": "ppn",
}


def library() -> ctypes.CDLL | None:
    """Return the native functions, or None where they cannot be built."""
    found = load_library("decoding")
    return None if found is None else declare_functions(found)


def declare_functions(library: ctypes.CDLL) -> ctypes.CDLL:
    """Declare the functions of a build of ``native/decoding.cpp``."""
    declare(library, FUNCTIONS, [NativeLayer, NativeModel])
    for free in (library.linear_free, library.state_free):
        free.restype, free.argtypes = None, [c_void_p]
    return library


class PackedLinear:
    """A linear map with a copy of its weights, packed for a precision.

    Args:
        library: From `library`.
        precision: One of `PRECISIONS`.
        weight: [N, K].
        bias: [N] or None.
    """

    def __init__(
        self, library: ctypes.CDLL, precision: str, weight: Tensor, bias: Tensor | None = None
    ) -> None:
        self.library, self.pointer = library, c_void_p()  # `__del__` reads both after any error
        self.outputs = weight.size(0)
        weight = weight.detach().float().contiguous()
        bias = None if bias is None else bias.detach().float().contiguous()
        library.linear_new(
            PRECISIONS.index(precision), weight, bias, *weight.shape, ctypes.byref(self.pointer)
        )

    @property
    def address(self) -> int:
        """The address for a `NativeLayer`; valid as long as this object."""
        return self.pointer.value or 0

    def __call__(self, x_MK: Tensor) -> Tensor:
        """Map fp32 rows [M, K] to [M, N]."""
        x_MK = x_MK.contiguous()
        y_MN = x_MK.new_empty(x_MK.size(0), self.outputs)
        self.library.linear_apply(self.pointer, x_MK, x_MK.size(0), y_MN)
        return y_MN

    def __del__(self) -> None:
        self.library.linear_free(self.pointer)
