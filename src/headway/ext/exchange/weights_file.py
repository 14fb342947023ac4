"""Reading a foreign file of weights: safetensors, or a pickle of tensors alone.

No code in a file is run, and no more memory is used than the expected shapes need. A pickle is scanned
before torch reads it with its weights-only reader. It may name nothing but what lists tensors: that reader also calls
functions that take any amount of memory, and would hash nested tuples for ever.
"""

import pickletools
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from headway.errors import HeadwayError
from headway.ext.exchange.zip_archive import check_list_of_entries
from headway.translation import check_header

FLOAT_TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
Shapes = Mapping[str, tuple[int, ...]]

MAX_PICKLE_BYTES = 1 << 19  # that of 1,000 layers has less
MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # the first of the pickles of torch before 1.6
COUNT = 5  # of the pickles of torch before 1.6; the numbers follow
TUPLES = {"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"}
FUNCTIONS = {
    "collections OrderedDict",
    "torch._utils _rebuild_parameter",
    "torch._utils _rebuild_tensor_v2",
    *(f"torch {kind}Storage" for kind in ("Float", "Half", "BFloat16", "Double", "Long")),
}


def read_weights(file: Path, required: Shapes, optional: Shapes) -> dict[str, Tensor]:
    """Read a file of named tensors.

    Args:
        file: A ``.safetensors`` file, or a file that `torch.save` wrote.
        required: Names and shapes of the tensors that must be there.
        optional: Names and shapes of the tensors that may be there.

    Returns:
        The tensors, in float32.

    Raises:
        HeadwayError: If the file holds anything else.
    """
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
        weights[name] = converted[place]
    return weights


def _read_safetensors(file: Path) -> dict[str, Tensor]:
    """Return the tensors of a file; their numbers are mapped and not copied."""
    check_header(file)
    try:
        with safe_open(file, framework="pt") as weights:
            return {name: weights.get_tensor(name) for name in weights.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise HeadwayError(f"{file}: not a whole safetensors file: {error}") from None


def read_tensors(file: Path) -> dict[str, Tensor]:
    """Read named tensors; an archive's numbers are mapped and not copied.

    Raises:
        HeadwayError: If the file holds anything else, or a tensor of more numbers than are stored.
    """
    is_archive = zipfile.is_zipfile(file)
    if is_archive:
        _check_archive(file)
    else:
        with file.open("rb") as opened:
            start = opened.read(MAX_PICKLE_BYTES)
        if not start.startswith(MAGIC):
            raise HeadwayError(f"{file}: not a file of weights alone")
        _check_pickles(file, start, COUNT)
    try:
        stored = torch.load(file, map_location="cpu", weights_only=True, mmap=is_archive)
    except Exception as error:  # a hostile file may fail in any way
        reason = f"{type(error).__name__}: {error}".split("\n")[0].split(". ")[0]
        raise HeadwayError(f"{file}: not a file of weights alone: {reason}") from None
    if not isinstance(stored, dict) or not all(
        isinstance(name, str)
        and type(part) in (Tensor, torch.nn.Parameter)
        and part.layout == torch.strided
        for name, part in stored.items()
    ):
        raise HeadwayError(f"{file}: holds other things than named tensors")
    for name, part in stored.items():
        numbers = part.untyped_storage().nbytes()
        if part.nbytes > numbers or numbers > file.stat().st_size:
            raise HeadwayError(f"{file}: {name} has more numbers than the file")
    return {name: part.detach() for name, part in stored.items()}


def _check_archive(file: Path) -> None:
    """Check that torch would have written an archive: not compressed, and nothing overlaps."""
    check_list_of_entries(file)
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise HeadwayError(f"{file}: compressed, which no file of weights is")
            if sum(entry.file_size for entry in entries) > file.stat().st_size:
                raise HeadwayError(f"{file}: its parts overlap")
            for entry in entries:
                if entry.filename.lower().endswith(".pkl"):  # torch ignores the case of a name
                    with archive.open(entry) as opened:
                        _check_pickles(file, opened.read(MAX_PICKLE_BYTES), 1)
    except HeadwayError:
        raise
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError) as error:
        raise HeadwayError(f"{file}: not a whole archive: {error}") from None


def _check_pickles(file: Path, content: bytes, count: int) -> None:
    """Check what the pickles at the beginning of ``content`` name, and that none uses a tuple twice."""
    stream = BytesIO(content)
    tuples: set[object] = set()  # numbers of stored tuples
    before = problem = ""
    try:
        for _ in range(count):
            for operation, argument, _ in pickletools.genops(stream):
                name = operation.name
                if name == "GLOBAL" and argument not in FUNCTIONS:
                    problem = f"its pickle names {argument!r:.60}"
                elif name.endswith("BINPUT"):
                    (tuples.add if before in TUPLES else tuples.discard)(argument)
                elif name.endswith("BINGET") and argument in tuples:
                    problem = "it uses a tuple twice"
                before = name
    except Exception as error:  # pickletools raises several types
        problem = str(error)[:80]
    if problem:
        raise HeadwayError(f"{file}: not a file of weights alone: {problem}")
