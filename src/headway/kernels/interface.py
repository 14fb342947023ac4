"""What Python and the native libraries must agree on: errors, and the layout of structures."""

import ctypes
from collections.abc import Sequence
from typing import Any


def raise_error(status: int, function: Any, _arguments: Any) -> int:
    """Raise the error that an exported function returned; ctypes calls this after the function.

    The numbers are those of ``Status`` in native/guard.h.

    Raises:
        IndexError: A token, label or position is out of range.
        MemoryError: No memory was left.
        RuntimeError: Any other error.
    """
    if status == 0:
        return status
    name = function.__name__
    if status == 1:
        raise IndexError(f"{name}: a token is not in the vocabulary or list, or a step is too many")
    if status == 2:
        raise MemoryError(f"{name}: no memory is left")
    raise RuntimeError(f"{name}: native code failed")


def check_layout(library: ctypes.CDLL, structures: Sequence[type[ctypes.Structure]]) -> None:
    """Compare the size of each structure and the offset of each field with the library's.

    Args:
        library: It exports ``structure_layout``.
        structures: In the order of the library's layouts.

    Raises:
        RuntimeError: If Python and C++ disagree about a structure.
    """
    layout_of = library.structure_layout
    layout_of.argtypes, layout_of.restype = [ctypes.c_int], ctypes.POINTER(ctypes.c_int64)
    for index, structure in enumerate(structures):
        fields = [field[0] for field in structure._fields_]
        expected = [ctypes.sizeof(structure), *(getattr(structure, f).offset for f in fields)]
        found = layout_of(index)[: len(expected)]
        for name, ours, native in zip(["size", *fields], expected, found, strict=True):
            if ours != native:
                raise RuntimeError(
                    f"{structure.__name__}: {name} is {ours} in Python and {native} in native"
                    " code; the two definitions must have the same fields"
                )
