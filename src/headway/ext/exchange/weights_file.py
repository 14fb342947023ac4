"""Reading a foreign file of weights: safetensors, or a pickle of tensors alone.

No code in a file is run, and no more memory is used than the expected shapes need.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from headway.errors import HeadwayError
from headway.ext.exchange.pickled_tensors import read_tensors
from headway.translation import check_header

MAX_OTHER_BYTES = 1 << 24  # of a file beside its numbers
FLOAT_TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
Shapes = Mapping[str, tuple[int, ...]]


class _Slice(Protocol):
    """A tensor in a safetensors file, whose values are read by ``[:]``."""

    def get_shape(self) -> list[int]: ...

    def __getitem__(self, everything: slice) -> Tensor: ...


def read_weights(file: Path, required: Shapes, optional: Shapes) -> dict[str, Tensor]:
    """Read a file of named tensors.

    Args:
        file: A ``.safetensors`` file, or a file that `torch.save` wrote.
        required: Names and shapes of the tensors that must be there.
        optional: Names and shapes of the tensors that may be there.

    Returns:
        The tensors, in float32.

    Raises:
        HeadwayError: If the file holds anything else, or numbers that are not finite.
    """
    size = file.stat().st_size
    if _count(required) > size:
        raise HeadwayError(f"{file}: {size} bytes are less than config.json's shapes need")
    if size > 8 * (_count(required) + _count(optional)) + MAX_OTHER_BYTES:
        raise HeadwayError(f"{file}: {size} bytes are more than config.json's shapes need")
    known = {**required, **optional}
    opened = _open_safetensors(file) if file.suffix == ".safetensors" else _open_pickle(file)
    with opened as stored:
        for name in sorted(stored.keys() | required.keys()):
            shape = tuple(stored[name].get_shape()) if name in stored else "missing"
            if name not in known:
                raise HeadwayError(f"{file}: {name} is no weight of a Marian model")
            if shape != known[name]:
                raise HeadwayError(f"{file}: {name} is {shape}, config.json expects {known[name]}")
        weights = {name: part[:] for name, part in stored.items()}
    converted: dict[object, Tensor] = {}  # a tensor with several names is converted once
    for name, weight in weights.items():
        if weight.dtype not in FLOAT_TYPES:
            raise HeadwayError(f"{file}: {name} holds {weight.dtype}, not floating-point numbers")
        place = weight.data_ptr(), weight.dtype, weight.shape, weight.stride()
        if place not in converted:
            converted[place] = weight.float()
            if not converted[place].isfinite().all():
                raise HeadwayError(f"{file}: {name} holds numbers that are not finite")
        weights[name] = converted[place]
    return weights


def _count(shapes: Shapes) -> int:
    return sum(torch.Size(shape).numel() for shape in shapes.values())


@contextmanager
def _open_safetensors(file: Path) -> Iterator[dict[str, _Slice]]:
    check_header(file)
    try:
        with safe_open(file, framework="pt") as weights:
            yield {name: weights.get_slice(name) for name in weights.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise HeadwayError(f"{file}: not a whole safetensors file: {error}") from None


class _TensorSlice:
    """A tensor with the interface of a safetensors slice."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def get_shape(self) -> list[int]:
        return list(self.tensor.shape)

    def __getitem__(self, everything: slice) -> Tensor:
        return self.tensor[everything]


@contextmanager
def _open_pickle(file: Path) -> Iterator[dict[str, _Slice]]:
    yield {name: _TensorSlice(part) for name, part in read_tensors(file).items()}
