"""Step-by-step translation in native code: the functions of ``native/decoding.cpp``, and its twins.

Structures mirror those of ``native/transformer.h``; whoever fills them keeps alive what they point to.
"""

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, c_double, c_int, c_int64, c_long, c_void_p
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headway.kernels import build

PRECISIONS = ("fp32", "bf16", "int8")  # in the order of native/linear.h
ACTIVATIONS = ("none", "relu", "gelu", "swish")  # in the order of native/vector.h
LANES = 16  # numbers of a vector: a head's width is padded to whole ones
PANEL = 32  # outputs computed together: a row's width is padded to whole ones


class Layer(ctypes.Structure):
    """The weights of a layer; an encoder's has no ``cross_`` maps."""

    _fields_ = (
        *((name, c_void_p) for name in (
            "query_key_value", "output", "cross_query", "cross_key_value", "cross_output",
            "inner", "outer",
        )),
        ("norms", (c_void_p * 2) * 3),
    )  # fmt: skip


class Model(ctypes.Structure):
    """The shape of a model and where its weights lie."""

    _fields_ = (
        *((name, c_int64) for name in (
            "d_model", "d_ff", "heads", "d_k", "d_v", "encoder_layers", "decoder_layers",
            "pre_norm", "activation", "source_vocab", "target_vocab",
        )),
        *((name, c_double) for name in ("epsilon", "attention_scale", "embedding_scale")),
        ("encoder", POINTER(Layer)),
        ("decoder", POINTER(Layer)),
        ("source_table", c_void_p),
        ("target_table", c_void_p),
        ("final_norms", (c_void_p * 2) * 2),
        ("logits", c_void_p),
    )  # fmt: skip


SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "headway_has_bf16": (c_int, []),
    "linear_new": (c_int, [c_int, *[c_void_p] * 2, *[c_long] * 2, POINTER(c_void_p)]),
    "linear_free": (None, [c_void_p]),
    "linear_apply": (None, [c_void_p, c_void_p, c_long, c_void_p]),
    "state_new": (
        c_int,
        [POINTER(Model), *[c_void_p] * 2, *[c_long] * 3, *[c_void_p] * 2, POINTER(c_void_p)],
    ),
    "state_restrict": (c_int, [c_void_p] * 3),
    "state_free": (None, [c_void_p]),
    "state_select": (c_int, [*[c_void_p] * 3, c_long, *[c_void_p] * 3]),
    "state_logits": (c_int, [c_void_p] * 3),
    "state_reorder": (c_int, [c_void_p, c_void_p, c_long]),
    "state_keep": (c_int, [c_void_p, c_void_p, c_long]),
}


def library() -> ctypes.CDLL | None:
    """Return the native functions, or None where they cannot be had."""
    found = build.library("decoding")
    return None if found is None else declared(found)


def declared(library: ctypes.CDLL) -> ctypes.CDLL:
    """Tell the types of the functions of a library."""
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _raise(ended: int) -> None:
    """Raise what a native function says by its result."""
    if ended == 1:
        raise IndexError("a token that is not in the vocabulary or on the list, or a step too many")
    if ended == 2:
        raise MemoryError("no memory is left for this translation")


class Linear:
    """A linear map with weights packed for a precision; it copies what it is given.

    Args:
        library: From `library`.
        precision: One of `PRECISIONS`.
        weight: [N, K].
        bias: [N] or None.
    """

    def __init__(
        self, library: ctypes.CDLL, precision: str, weight: Tensor, bias: Tensor | None = None
    ) -> None:
        self.library, self.outputs = library, weight.size(0)
        weight = weight.detach().float().contiguous()
        bias = None if bias is None else bias.detach().float().contiguous()
        self.pointer = c_void_p()
        _raise(
            library.linear_new(
                PRECISIONS.index(precision),
                weight.data_ptr(),
                None if bias is None else bias.data_ptr(),
                *weight.shape,
                ctypes.byref(self.pointer),
            )
        )

    @property
    def address(self) -> int:
        """What a `Layer` points to; valid as long as this object."""
        return self.pointer.value or 0

    def __call__(self, x_MK: Tensor) -> Tensor:
        """Map fp32 rows [M, K] to [M, N]."""
        x_MK = x_MK.contiguous()
        y_MN = x_MK.new_empty(x_MK.size(0), self.outputs)
        self.library.linear_apply(self.pointer, x_MK.data_ptr(), x_MK.size(0), y_MN.data_ptr())
        return y_MN

    def __del__(self) -> None:
        self.library.linear_free(self.pointer)


class State:
    """Hypotheses of some sentences, which `select` and `logits` move on by a token.

    Args:
        library: From `library`.
        model: Its weights; they must outlive this object.
        sources: Ids of the sentences.
        beams: Hypotheses of each.
        limit: Tokens that may be read.
        positions: Tables of the source's and the target's positions, long enough; None: none.

    Raises:
        IndexError: Here and by each step, at a token or a step that there is none of.
        MemoryError: Where no memory is left.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        model: Model,
        sources: Sequence[Sequence[int]],
        beams: int,
        limit: int,
        positions: Sequence[Tensor | None],
    ) -> None:
        self.library, self.model, self.positions = library, model, positions
        self.vocab_size = int(model.target_vocab)
        lengths = np.array([len(source) for source in sources], dtype=np.int64)
        ids = np.array([i for source in sources for i in source], dtype=np.int64)
        tables = [None if table is None else table.data_ptr() for table in positions]
        self.pointer = c_void_p()
        _raise(
            library.state_new(
                ctypes.byref(model), ids.ctypes.data, lengths.ctypes.data, len(lengths), beams,
                limit, *tables, ctypes.byref(self.pointer),
            )
        )  # fmt: skip
        # What goes in and out lies always at the same places.
        rows = len(lengths) * beams
        self.tokens, self.forced = np.empty(rows, np.int64), np.empty(rows, np.int64)
        self.log_z = np.empty(rows)
        self.tokens_at, self.forced_at = self.tokens.ctypes.data, self.forced.ctypes.data
        self.log_z_at = self.log_z.ctypes.data
        self._make_room(0)

    def _make_room(self, wanted: int) -> None:
        self.ids = np.empty((len(self.tokens), wanted), np.int64)
        self.chosen = np.empty((len(self.tokens), wanted), np.float32)
        self.ids_at, self.chosen_at = self.ids.ctypes.data, self.chosen.ctypes.data

    def restrict(self, choices: Sequence[np.ndarray]) -> None:
        """Let `select` look at these tokens alone: for each sentence ids, ascending, ``<pad>`` last."""
        ids = np.concatenate(choices, dtype=np.int64)
        ends = np.cumsum([len(some) for some in choices], dtype=np.int64)
        _raise(self.library.state_restrict(self.pointer, ids.ctypes.data, ends.ctypes.data))

    def select(
        self, tokens_N: np.ndarray, wanted: int, forced_N: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Read a token each; return the best next ids [N, C], their logits and each log-sum-exp.

        They are descending, ties by id, and valid until the next call. ``<pad>``, the last id, is
        none of them but fills up; where ``forced_N`` is not -1, that token is the only one.
        """
        rows = len(tokens_N)
        if wanted != self.ids.shape[1]:
            self._make_room(wanted)
        self.tokens[:rows] = tokens_N
        if forced_N is not None:
            self.forced[:rows] = forced_N
        ended = self.library.state_select(
            self.pointer,
            self.tokens_at,
            None if forced_N is None else self.forced_at,
            wanted,
            self.ids_at,
            self.chosen_at,
            self.log_z_at,
        )
        _raise(ended)
        return self.ids[:rows], self.chosen[:rows], self.log_z[:rows]

    def logits(self, tokens_N: np.ndarray) -> Tensor:
        """Read a token each; return all logits of the next, [N, V]."""
        self.tokens[: len(tokens_N)] = tokens_N
        width = -(-self.vocab_size // PANEL) * PANEL
        out = torch.empty(len(tokens_N), width)
        _raise(self.library.state_logits(self.pointer, self.tokens_at, out.data_ptr()))
        return out[:, : self.vocab_size]

    def reorder(self, rows_N: np.ndarray) -> None:
        """Let hypothesis i go on from hypothesis ``rows_N[i]``."""
        self.tokens[: len(rows_N)] = rows_N
        _raise(self.library.state_reorder(self.pointer, self.tokens_at, len(rows_N)))

    def keep(self, sentences: np.ndarray) -> None:
        """Forget all sentences but these; `reorder` must follow."""
        self.tokens[: len(sentences)] = sentences
        _raise(self.library.state_keep(self.pointer, self.tokens_at, len(sentences)))

    def __del__(self) -> None:
        self.library.state_free(self.pointer)


def quantize(x: Tensor) -> tuple[Tensor, Tensor]:
    """Round each row of [M, K] to integers in [-127, 127] times a scale: int8 [M, K], fp32 [M, 1].

    The twin of what native code does to weights and inputs; ties go to even.
    """
    scale = x.abs().amax(-1, keepdim=True) / 127
    inverse = torch.where(scale > 0, 1 / scale, 0)
    return (x.double() * inverse.double()).round().to(torch.int8), scale


def int8_linear(x: Tensor, weight: tuple[Tensor, Tensor], bias: Tensor | None) -> Tensor:
    """The twin of an int8 `Linear`: x [..., K] times the quantized weight [N, K]."""
    numbers, scale = quantize(x.flatten(0, -2))
    exact = torch._int_mm(numbers, weight[0].t())
    y = exact.float() * (scale * weight[1].t())
    return (y if bias is None else y + bias).view(*x.shape[:-1], -1)


def bf16_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """The twin of a bf16 `Linear`: inputs and weight rounded to bf16, products summed in fp32."""
    y = x.bfloat16().float() @ weight.float().t()
    return y if bias is None else y + bias
