"""Reading CTranslate2's ``model.bin``, for which CTranslate2 has no reader in Python.

The file is little-endian: u32 version, string "TransformerSpec", u32 revision, u32 count of tensors;
for each tensor its name, u8 rank, u32 sizes, u8 type, u32 bytes, data; u32 count of aliases; for each
alias its name and the tensor's. A string is u16 length + 1, its bytes, and a NUL.
"""

import math
import struct
from io import BufferedReader
from pathlib import Path

import torch
from torch import Tensor

from headway.errors import HeadwayError

VERSION, SPEC, REVISION = 6, "TransformerSpec", 7
# The index of a type is its number in the file.
TYPES = (torch.float32, torch.int8, torch.int16, torch.int32, torch.float16, torch.bfloat16)
MAX_RANK = 4
MAX_VARIABLES = 50_000  # and as many aliases; a model of 1,000 layers has less
MAX_ALIASED = 4  # names of the same numbers, on average: an embedding has up to three uses


def read_variables(path: Path) -> dict[str, Tensor]:
    """Read the tensors by name; an alias is the same tensor under another name.

    The memory used is at most the size of the file.

    Raises:
        HeadwayError: If the file is damaged, of another version, or not a Transformer.
    """
    with path.open("rb") as file:
        return _Reader(path, file).read_variables()


class _Reader:
    """Reads values one after the other; each is checked against what is left of the file before memory is reserved."""

    def __init__(self, path: Path, file: BufferedReader) -> None:
        self.path, self.file = path, file
        self.size = self.left = path.stat().st_size

    def read_variables(self) -> dict[str, Tensor]:
        version = self.read_numbers("I")[0]
        if version != VERSION:
            raise self.error(f"binary version {version}, but Headway reads version {VERSION}")
        spec = self.read_string()
        if spec != SPEC:
            raise self.error(f"holds a {spec[:40]!r}, not a {SPEC}")
        revision, count = self.read_numbers("II")
        if revision > REVISION:
            raise self.error(f"revision {revision}, but Headway reads up to {REVISION}")
        variables: dict[str, Tensor] = {}
        for _ in range(self.check_count(count)):
            name = self.read_string()
            if name in variables:
                raise self.error(f"holds {name[:60]!r} twice")
            variables[name] = self.read_tensor(name)
        names: dict[str, str] = {}
        for _ in range(self.check_count(self.read_numbers("I")[0])):
            alias, name = self.read_string(), self.read_string()
            if name not in variables or alias in variables:
                raise self.error(f"alias {alias[:60]!r} of {name[:60]!r}: missing or there twice")
            variables[alias] = variables[name]
            names[alias] = name
        for alias, name in names.items():  # the scale of a rounded tensor belongs to its aliases
            if f"{name}_scale" in variables:
                variables.setdefault(f"{alias}_scale", variables[f"{name}_scale"])
        if self.left:
            raise self.error(f"{self.left} bytes too long")
        if sum(tensor.numel() for tensor in variables.values()) > MAX_ALIASED * self.size:
            raise self.error("its aliases stand for more numbers than a model can share")
        return variables

    def check_count(self, count: int) -> int:
        if count > MAX_VARIABLES:
            raise self.error(
                f"{count:,} variables or aliases, at most {MAX_VARIABLES:,} are possible"
            )
        return count

    def read_tensor(self, name: str) -> Tensor:
        rank = self.read_numbers("B")[0]
        if rank > MAX_RANK:
            raise self.error(
                f"{name[:60]!r} has {rank} dimensions, at most {MAX_RANK} are possible"
            )
        shape = self.read_numbers(f"{rank}I")
        type_number, size = self.read_numbers("BI")
        if type_number >= len(TYPES):
            raise self.error(f"{name[:60]!r} has the unknown type {type_number}")
        dtype = TYPES[type_number]
        count = math.prod(shape)
        if count * dtype.itemsize != size or count == 0:
            raise self.error(f"{name[:60]!r} of shape {shape} cannot have {size} bytes")
        return torch.frombuffer(self.read(size), dtype=dtype).reshape(shape)

    def read_numbers(self, types: str) -> tuple[int, ...]:
        return struct.unpack(f"<{types}", self.read(struct.calcsize(f"<{types}")))

    def read_string(self) -> str:
        raw = self.read(self.read_numbers("H")[0])
        text = raw[:-1].decode(errors="ignore")
        if text.encode() != raw[:-1] or not text or raw[-1] != 0:
            raise self.error("a name is not text")
        return text

    def read(self, size: int) -> bytearray:
        if size > self.left:
            raise self.error("ends too early")
        self.left -= size
        data = bytearray(size)
        self.file.readinto(data)
        return data

    def error(self, problem: str) -> HeadwayError:
        return HeadwayError(f"{self.path}: {problem}")
