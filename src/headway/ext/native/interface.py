"""What Python and the native libraries must agree on: errors, and the layout of structures."""

import ctypes
from collections.abc import Callable, Mapping, Sequence

from torch import Tensor


class Elements:
    """The type of an argument that points to the elements of a tensor, or to nothing for None."""

    @staticmethod
    def from_param(tensor: Tensor | None) -> ctypes.c_void_p:
        """Convert an argument; ctypes calls this."""
        return ctypes.c_void_p(None if tensor is None else tensor.data_ptr())


# A letter for each argument: t tensor, p pointer, n count, u 32 random bits or a threshold, f float, i int.
LETTERS = {
    "t": Elements,
    "p": ctypes.c_void_p,
    "n": ctypes.c_int64,
    "u": ctypes.c_uint32,
    "f": ctypes.c_float,
    "i": ctypes.c_int,
}


def declare(
    library: ctypes.CDLL,
    functions: Mapping[str, str],
    structures: Sequence[type[ctypes.Structure]],
) -> None:
    """Declare the functions of a library, whose errors ctypes then raises.

    Args:
        library: Its functions return a ``Status``.
        functions: For each name the letters of the arguments, from `LETTERS`.
        structures: See `check_layout`.

    Raises:
        RuntimeError: If Python and C++ disagree about a structure.
    """
    check_layout(library, structures)
    for name, letters in functions.items():
        function = getattr(library, name)
        function.argtypes = [LETTERS[letter] for letter in letters]
        function.restype, function.errcheck = ctypes.c_int, raise_error


def raise_error(status: int, function: Callable[..., object], _arguments: object) -> int:
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
