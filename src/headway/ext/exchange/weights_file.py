"""Reading a foreign file of weights: safetensors, or a pickle of tensors alone.

No code in a file is run, and no more memory is used than the expected shapes need.
"""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from headway.errors import HeadwayError
from headway.ext.exchange.pickled_tensors import read_tensors
from headway.translation import check_header

MAX_OTHER_BYTES = 1 << 24  # of a file beside its numbers
FLOAT_TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
Shapes = Mapping[str, tuple[int, ...]]


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
    weights = _read_safetensors(file) if file.suffix == ".safetensors" else read_tensors(file)
    for name in sorted(weights.keys() | required.keys()):
        shape = tuple(weights[name].shape) if name in weights else "missing"
        if name not in known:
            raise HeadwayError(f"{file}: {name} is no weight of a Marian model")
        if shape != known[name]:
            raise HeadwayError(f"{file}: {name} is {shape}, config.json expects {known[name]}")
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


def _read_safetensors(file: Path) -> dict[str, Tensor]:
    """Return the tensors of a file; their numbers are mapped and not copied."""
    check_header(file)
    try:
        with safe_open(file, framework="pt") as weights:
            return {name: weights.get_tensor(name) for name in weights.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise HeadwayError(f"{file}: not a whole safetensors file: {error}") from None
