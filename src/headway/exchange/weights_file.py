"""Reading what others wrote: nothing is run, and memory is spent only on what was announced."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from headway.errors import HeadwayError

LARGEST_JSON = 1 << 26  # bytes
LARGEST_PROGRAM = 1 << 24  # bytes of a pickle that only lists tensors
NUMBERS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
Shapes = Mapping[str, tuple[int, ...]]


def read_object(file: Path, *, missing: bool = False) -> dict[str, Any]:
    """Read a JSON object.

    Args:
        file: Where it is.
        missing: Return an empty one where there is no such file.

    Raises:
        HeadwayError: If it is no such file.
    """
    if missing and not file.exists():
        return {}
    if not file.is_file():
        raise HeadwayError(f"{file.parent}: no {file.name}")
    if file.stat().st_size > LARGEST_JSON:
        raise HeadwayError(f"{file}: larger than {LARGEST_JSON} bytes")
    try:
        value = json.loads(file.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise HeadwayError(f"{file}: not JSON: {str(error).splitlines()[0]}") from None
    if not isinstance(value, dict):
        raise HeadwayError(f"{file}: not a JSON object")
    return value


def read_weights(file: Path, needed: Shapes, allowed: Shapes) -> dict[str, Tensor]:
    """Read a file of tensors, safetensors or what `torch.save` wrote.

    Args:
        file: ``.safetensors``, or else the other.
        needed: Names and shapes that must be there.
        allowed: Names and shapes that may be.

    Returns:
        All of them, in float32.

    Raises:
        HeadwayError: If it holds anything else, or numbers that are not finite.
    """
    size = file.stat().st_size
    if _numbers(needed) > size:
        raise HeadwayError(f"{file}: {size} bytes are less than config.json's shapes need")
    if size > 8 * (_numbers(needed) + _numbers(allowed)) + LARGEST_PROGRAM:
        raise HeadwayError(f"{file}: {size} bytes are more than config.json's shapes need")
    reading = _safetensors if file.suffix == ".safetensors" else _pickled
    with reading(file) as found:
        known = {**needed, **allowed}
        for name in sorted(found.keys() | needed.keys()):
            shape = tuple(found[name].get_shape()) if name in found else "missing"
            if name not in known:
                raise HeadwayError(f"{file}: {name} is no weight of a Marian model")
            if shape != known[name]:
                raise HeadwayError(f"{file}: {name} is {shape}, config.json expects {known[name]}")
        values = {name: part[:] for name, part in found.items()}
    for name, value in values.items():
        if value.dtype not in NUMBERS:
            raise HeadwayError(f"{file}: {name} holds {value.dtype}, not floating-point numbers")
        values[name] = value.float()
        if not values[name].isfinite().all():
            raise HeadwayError(f"{file}: {name} holds numbers that are not finite")
    return values


def _numbers(shapes: Shapes) -> int:
    return sum(torch.Size(shape).numel() for shape in shapes.values())


@contextmanager
def _safetensors(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with safe_open(file, framework="pt") as weights:
            yield {name: weights.get_slice(name) for name in weights.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise HeadwayError(f"{file}: not a whole safetensors file: {error}") from None


class _Whole:
    """A tensor with the two methods of a safetensors slice that are used."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def get_shape(self) -> list[int]:
        return list(self.tensor.shape)

    def __getitem__(self, everything: slice) -> Tensor:
        return self.tensor[everything]


@contextmanager
def _pickled(file: Path) -> Iterator[dict[str, Any]]:
    zipped = zipfile.is_zipfile(file)
    if zipped:
        _check_zip(file)
    try:
        # Weights only: names, shapes and numbers; nothing else in it is looked up or called.
        found = torch.load(file, map_location="cpu", weights_only=True, mmap=zipped)
    except Exception as error:  # a hostile file may fail in any way
        reason = f"{type(error).__name__}: {error}".split("\n")[0].split(". ")[0]
        raise HeadwayError(f"{file}: not a file of weights alone: {reason}") from None
    if not isinstance(found, dict) or not all(
        isinstance(name, str)
        and type(part) in (Tensor, torch.nn.Parameter)
        and part.layout == torch.strided
        for name, part in found.items()
    ):
        raise HeadwayError(f"{file}: holds other things than named tensors")
    yield {name: _Whole(part.detach()) for name, part in found.items()}


def _check_zip(file: Path) -> None:
    """Refuse archives that torch would not have written: compressed, or overlapping."""
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise HeadwayError(f"{file}: not a whole archive: {error}") from None
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise HeadwayError(f"{file}: compressed, which no file of weights is")
    if sum(entry.file_size for entry in entries) > file.stat().st_size:
        raise HeadwayError(f"{file}: its parts overlap")
    if any(e.file_size > LARGEST_PROGRAM for e in entries if e.filename.endswith(".pkl")):
        raise HeadwayError(f"{file}: its list of tensors is larger than any")
