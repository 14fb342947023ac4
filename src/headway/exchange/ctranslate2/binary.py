"""CTranslate2's ``model.bin``: named tensors, one after another, then names that share one.

Little-endian. A string is its length + 1 (u16), its bytes, and a NUL. The file is u32 version, string
"TransformerSpec", u32 revision, u32 count; for each variable its name, u8 rank, u32 sizes, u8 type,
u32 bytes, data; u32 count, and for each alias its name and the variable's.
"""

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch
from torch import Tensor

from headway.errors import HeadwayError

VERSION, SPEC, REVISION = 6, "TransformerSpec", 7
# The number of a type in the file; bfloat16 is what numpy lacks.
TYPES = (torch.float32, torch.int8, torch.int16, torch.int32, torch.float16, torch.bfloat16)
MAX_RANK = 4


def write_variables(path: Path, variables: Mapping[str, Tensor]) -> None:
    """Write tensors; those that are one object are stored once, under their first name."""
    first: dict[int, str] = {}
    aliases = []
    for name in sorted(variables):
        owner = first.setdefault(id(variables[name]), name)
        if owner != name:
            aliases.append((name, owner))
    with path.open("wb") as file:
        file.write(struct.pack("<I", VERSION))
        _write_string(file, SPEC)
        file.write(struct.pack("<II", REVISION, len(first)))
        for name in first.values():
            value = variables[name].detach().cpu().contiguous()
            _write_string(file, name)
            file.write(struct.pack(f"<B{value.dim()}I", value.dim(), *value.shape))
            file.write(struct.pack("<BI", TYPES.index(value.dtype), value.nbytes))
            file.write(value.reshape(-1).view(torch.uint8).numpy().data)
        file.write(struct.pack("<I", len(aliases)))
        for names in aliases:
            for name in names:
                _write_string(file, name)


def _write_string(file: BinaryIO, text: str) -> None:
    data = text.encode()
    file.write(struct.pack("<H", len(data) + 1) + data + b"\0")


def read_variables(path: Path) -> dict[str, Tensor]:
    """Read all tensors; no more memory is taken than the file is long.

    Raises:
        HeadwayError: If the file is not a whole one of version 6 and of a Transformer.
    """
    with path.open("rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # nothing is in it
            raise HeadwayError(f"{path}: is empty") from None
        with data:
            return _Reader(path, data).variables()


class _Reader:
    """A place in the file, moved by each read; nothing is read beyond the end."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self.path, self.data, self.at = path, data, 0

    def variables(self) -> dict[str, Tensor]:
        version = self.numbers("I")[0]
        if version != VERSION:
            raise self.wrong(f"binary version {version}, but this Headway reads version {VERSION}")
        spec = self.string()
        if spec != SPEC:
            raise self.wrong(f"holds a {spec[:40]!r}, not a {SPEC}")
        revision, count = self.numbers("II")
        if revision > REVISION:
            raise self.wrong(f"revision {revision}, but this Headway reads up to {REVISION}")
        found: dict[str, Tensor] = {}
        for _ in range(count):
            name = self.string()
            if name in found:
                raise self.wrong(f"holds {name[:60]!r} twice")
            found[name] = self.tensor(name)
        for _ in range(self.numbers("I")[0]):
            alias, name = self.string(), self.string()
            if name not in found or alias in found:
                raise self.wrong(f"{alias[:60]!r} stands for {name[:60]!r}, which is not there")
            found[alias] = found[name]
        if self.at != len(self.data):
            raise self.wrong(f"{len(self.data) - self.at} bytes too long")
        return found

    def tensor(self, name: str) -> Tensor:
        rank = self.numbers("B")[0]
        if rank > MAX_RANK:
            raise self.wrong(f"{name[:60]!r} has {rank} dimensions")
        shape = self.numbers(f"{rank}I")
        kind, size = self.numbers("BI")
        if kind >= len(TYPES):
            raise self.wrong(f"{name[:60]!r} has the unknown type {kind}")
        dtype = TYPES[kind]
        count = 1
        for length in shape:
            count *= length
        if count * dtype.itemsize != size or count == 0:
            raise self.wrong(f"{name[:60]!r} of shape {shape} cannot have {size} bytes")
        self.need(size)
        raw = np.frombuffer(self.data, np.uint8, size, self.at).copy()
        self.at += size
        return torch.from_numpy(raw).view(dtype).reshape(shape)

    def numbers(self, kinds: str) -> tuple[int, ...]:
        layout = struct.Struct(f"<{kinds}")
        self.need(layout.size)
        values: tuple[int, ...] = layout.unpack_from(self.data, self.at)
        self.at += layout.size
        return values

    def string(self) -> str:
        length = self.numbers("H")[0]
        self.need(length)
        raw = self.data[self.at : self.at + length]
        self.at += length
        try:
            text = raw[:-1].decode()
        except UnicodeDecodeError:
            text = ""
        if not text or raw[-1] != 0:
            raise self.wrong("a name is no text")
        return text

    def need(self, count: int) -> None:
        if count > len(self.data) - self.at:
            raise self.wrong("ends too early")

    def wrong(self, what: str) -> HeadwayError:
        return HeadwayError(f"{self.path}: {what}")
