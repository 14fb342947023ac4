"""Token ids on disk, memory-mapped, so that a corpus may be far larger than memory.

A corpus directory holds ``source.ids`` and ``target.ids`` (the ids of all sentences, uint16 or
uint32), ``source.ends`` and ``target.ends`` (the end of each sentence, int64) and ``corpus.json``.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from headway.errors import HeadwayError

Ids = npt.NDArray[np.unsignedinteger]
Lengths = npt.NDArray[np.int32]
IdPair = tuple[Sequence[int], Sequence[int]]

Number = TypeVar("Number", bound=np.integer)

FORMAT = 1
FLUSH = 1 << 16  # pairs kept in memory before they are written
SIDES = ("source", "target")
DTYPES: dict[str, type[np.unsignedinteger]] = {"uint16": np.uint16, "uint32": np.uint32}


@dataclass(kw_only=True)
class Facts:
    """The content of ``corpus.json``.

    Attributes:
        format: The version of the files.
        dtype: A name in `DTYPES`: the type of an id.
        pairs: Number of pairs.
        source_tokens: Number of source ids.
        target_tokens: Number of target ids.
        sha256: Of all ids.
    """

    format: int = FORMAT
    dtype: str
    pairs: int = 0
    source_tokens: int = 0
    target_tokens: int = 0
    sha256: str = ""

    def tokens(self, side: str) -> int:
        """Return the number of ids of a side."""
        return self.source_tokens if side == "source" else self.target_tokens


class Corpus:
    """Parallel sentences as token ids.

    Args:
        directory: A directory that `write` wrote.

    Raises:
        HeadwayError: If a file is missing or has a wrong size.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._facts = facts = _read_facts(self.directory)
        self._ids: dict[str, Ids] = {}
        self._ends: dict[str, npt.NDArray[np.int64]] = {}
        for side in SIDES:
            tokens = facts.tokens(side)
            self._ids[side] = _map(self.directory / f"{side}.ids", DTYPES[facts.dtype], tokens)
            self._ends[side] = _map(self.directory / f"{side}.ends", np.int64, facts.pairs)

    @classmethod
    def open(cls, directory: str | Path) -> "Corpus":
        """Open a corpus directory."""
        return cls(directory)

    @classmethod
    def write(
        cls,
        directory: str | Path,
        ids: Iterable[IdPair],
        vocab_size: int = 1 << 32,
    ) -> "Corpus":
        """Write a corpus in constant memory.

        Args:
            directory: A directory that does not exist yet.
            ids: Pairs of source and target ids.
            vocab_size: All ids are below it; up to 65,536 an id takes two bytes, else four.
        """
        directory = Path(directory)
        directory.mkdir(parents=True)
        facts = Facts(dtype="uint16" if vocab_size <= 1 << 16 else "uint32")
        digest = hashlib.sha256()
        names = [f"{side}.{part}" for side in SIDES for part in ("ids", "ends")]
        files = {name: (directory / name).open("wb") for name in names}
        try:
            pending: list[IdPair] = []
            for pair in ids:
                pending.append(pair)
                if len(pending) == FLUSH:
                    _flush(pending, files, facts, digest)
            _flush(pending, files, facts, digest)
        finally:
            for file in files.values():
                file.close()
        facts.sha256 = digest.hexdigest()
        (directory / "corpus.json").write_text(json.dumps(asdict(facts), indent=2) + "\n")
        return cls(directory)

    def __len__(self) -> int:
        return self._facts.pairs

    @property
    def fingerprint(self) -> str:
        """A hash of all ids."""
        return self._facts.sha256

    def check_digest(self) -> None:
        """Check that all ids are those that were written.

        Raises:
            HeadwayError: If not.
        """
        digest = hashlib.sha256()
        starts = dict.fromkeys(SIDES, 0)
        for first in range(0, len(self), FLUSH):  # in the order in which `_flush` wrote them
            for side in SIDES:
                ends = self._ends[side][first : first + FLUSH]
                flat = self._ids[side][starts[side] : int(ends[-1])]
                digest.update(flat.astype("<u4").tobytes() + ends.astype("<i8").tobytes())
                starts[side] = int(ends[-1])
        if digest.hexdigest() != self.fingerprint:
            raise HeadwayError(
                f"{self.directory}: source.ids, source.ends, target.ids or target.ends has changed since"
                " the data was prepared"
            )

    @property
    def source_tokens(self) -> int:
        """Number of source ids, ``</s>`` included."""
        return self._facts.source_tokens

    @property
    def target_tokens(self) -> int:
        """Number of target ids, ``</s>`` included."""
        return self._facts.target_tokens

    @cached_property
    def source_lengths(self) -> Lengths:
        """Tokens of each source sentence, [pairs]."""
        return np.diff(self._ends["source"], prepend=0).astype(np.int32)

    @cached_property
    def target_lengths(self) -> Lengths:
        """Tokens of each target sentence, [pairs]."""
        return np.diff(self._ends["target"], prepend=0).astype(np.int32)

    def lengths(self, side: str, rows: range) -> Lengths:
        """Return the tokens of neighboring sentences of one side, "source" or "target"."""
        start = self._ends[side][rows.start - 1] if rows.start else 0
        return np.diff(self._ends[side][rows.start : rows.stop], prepend=start).astype(np.int32)

    def count_tokens(self, side: str, rows: npt.NDArray[np.int64]) -> int:
        """Return the number of tokens of some sentences of one side, "source" or "target"."""
        ends = self._ends[side]
        starts = np.where(rows > 0, ends[rows - 1], 0)
        return int((ends[rows] - starts).sum())

    def read_ahead(self, rows: range) -> None:
        """Let the system read neighboring pairs from the disk, in one go, while others are used."""
        if not len(rows) or not hasattr(os, "posix_fadvise"):
            return
        for side in SIDES:
            first, last = (int(self._ends[side][row]) for row in (rows.start, rows.stop - 1))
            width = self._ids[side].itemsize
            with (self.directory / f"{side}.ids").open("rb") as file:
                span = first * width, (last - first) * width
                os.posix_fadvise(file.fileno(), *span, os.POSIX_FADV_WILLNEED)

    def pair(self, index: int) -> tuple[Ids, Ids]:
        """Return the source and target ids of a pair, without copying them."""
        return self.sentence("source", index), self.sentence("target", index)

    def sentence(self, side: str, index: int) -> Ids:
        """Return the ids of one side, "source" or "target", of a pair."""
        ends = self._ends[side]
        start = ends[index - 1] if index else 0
        return self._ids[side][start : ends[index]]


def _map(path: Path, dtype: type[Number], count: int) -> npt.NDArray[Number]:
    """Map a file of numbers into memory."""
    expected = count * np.dtype(dtype).itemsize
    size = path.stat().st_size if path.is_file() else -1
    if size != expected:
        found = "is missing" if size < 0 else f"has {size} bytes, not {expected}"
        raise HeadwayError(f"{path}: {found}")
    return np.memmap(path, dtype, mode="r") if count else np.zeros(0, dtype)


def _flush(
    pending: list[IdPair],
    files: Mapping[str, BinaryIO],
    facts: Facts,
    digest: "hashlib._Hash",
) -> None:
    """Write the pending pairs and empty the list."""
    for at, side in enumerate(SIDES):
        lengths = [len(pair[at]) for pair in pending]
        flat = np.fromiter((i for pair in pending for i in pair[at]), facts.dtype, sum(lengths))
        ends = np.cumsum(np.array([facts.tokens(side), *lengths], np.int64))[1:]
        files[f"{side}.ids"].write(flat.tobytes())
        files[f"{side}.ends"].write(ends.tobytes())
        digest.update(flat.astype("<u4").tobytes() + ends.astype("<i8").tobytes())
    facts.source_tokens += sum(len(source) for source, _ in pending)
    facts.target_tokens += sum(len(target) for _, target in pending)
    facts.pairs += len(pending)
    pending.clear()


def _read_facts(directory: Path) -> Facts:
    path = directory / "corpus.json"
    if not path.is_file():
        raise HeadwayError(f"{path}: missing")
    try:
        facts = Facts(**json.loads(path.read_bytes()))
        sizes = facts.pairs, facts.source_tokens, facts.target_tokens
        is_right = (
            facts.format == FORMAT
            and facts.dtype in DTYPES
            and isinstance(facts.sha256, str)
            and all(type(size) is int and size >= 0 for size in sizes)
        )
        if not is_right:
            raise ValueError
    except (OSError, ValueError, TypeError, RecursionError):
        raise HeadwayError(f"{path}: not written by this version of Headway") from None
    return facts
