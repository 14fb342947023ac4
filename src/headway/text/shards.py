"""Token ids on disk, memory-mapped, so that a corpus may be far larger than memory.

A corpus directory holds ``source.ids`` and ``target.ids`` (the ids of all sentences, uint16 or
uint32), ``source.ends`` and ``target.ends`` (the end of each sentence, int64) and ``corpus.json``.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from headway import __version__
from headway.errors import HeadwayError
from headway.files import check_writer, read_small_file

Ids = npt.NDArray[np.unsignedinteger]
Lengths = npt.NDArray[np.int32]
Ends = npt.NDArray[np.int64]
IdPair = tuple[Sequence[int], Sequence[int]]
Side = tuple[Ids, Ends]  # the ids of some sentences of one side, and where each sentence ends

FORMAT = 2
FLUSH = 1 << 12  # pairs that are written at once
DIGESTED = 1 << 16  # pairs that are digested at once; the digest of a corpus depends on it
MOST_BYTES = 1 << 16  # of corpus.json
SIDES = ("source", "target")
DTYPES = ("uint16", "uint32")


@dataclass(kw_only=True)
class Facts:
    """The content of ``corpus.json``.

    Attributes:
        format: The version of the files.
        headway: Version of Headway that wrote them.
        dtype: A name in `DTYPES`: the type of an id.
        pairs: Number of pairs.
        source_tokens: Number of source ids.
        target_tokens: Number of target ids.
        sha256: Of all ids.
    """

    format: int = FORMAT
    headway: str
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
        directory: A directory that `write` or `join` wrote.

    Raises:
        HeadwayError: If a file is missing or has a wrong size.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._facts = facts = _read_facts(self.directory)
        self._ids: dict[str, Ids] = {}
        self._ends: dict[str, Ends] = {}
        for side in SIDES:
            tokens = facts.tokens(side)
            self._ids[side] = _map(self.directory / f"{side}.ids", facts.dtype, tokens)
            self._ends[side] = _map(self.directory / f"{side}.ends", "int64", facts.pairs)

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
        dtype = "uint16" if vocab_size <= 1 << 16 else "uint32"
        return cls._write(Path(directory), _in_blocks(ids, dtype), dtype)

    @classmethod
    def join(cls, directory: str | Path, parts: Sequence[str | Path]) -> "Corpus":
        """Write a corpus of the pairs of one or more corpora of the same vocabulary, in constant memory.

        Args:
            directory: A directory that does not exist yet.
            parts: Their directories.
        """
        # A process may open only some hundred files.
        opened = (cls(part) for part in parts)
        blocks = ([(part._ids[side], part._ends[side]) for side in SIDES] for part in opened)
        return cls._write(Path(directory), blocks, _read_facts(Path(parts[0])).dtype)

    @classmethod
    def _write(cls, directory: Path, blocks: Iterable[Iterable[Side]], dtype: str) -> "Corpus":
        """Write the pairs of blocks, each of which has two sides."""
        directory.mkdir(parents=True)
        facts = Facts(headway=__version__, dtype=dtype)
        tokens = dict.fromkeys(SIDES, 0)
        with ExitStack() as stack:
            files = {
                name: stack.enter_context((directory / name).open("wb"))
                for name in (f"{side}.{part}" for side in SIDES for part in ("ids", "ends"))
            }
            for block in blocks:
                for side, (ids, ends) in zip(SIDES, block, strict=True):
                    files[f"{side}.ids"].write(ids.tobytes())
                    files[f"{side}.ends"].write((tokens[side] + ends).tobytes())
                    tokens[side] += len(ids)
                facts.pairs += len(ends)
        facts.source_tokens, facts.target_tokens = tokens.values()
        facts.sha256 = _digest(directory, facts)
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
        if _digest(self.directory, self._facts) != self.fingerprint:
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

    def find_longest(self, side: str) -> int:
        """Return the tokens of the longest sentence of one side, "source" or "target"."""
        starts = range(0, len(self), DIGESTED)
        parts = (np.arange(start, min(start + DIGESTED, len(self))) for start in starts)
        return max((int(self.lengths_at(side, rows).max()) for rows in parts), default=0)

    def lengths_at(self, side: str, rows: npt.NDArray[np.int64]) -> Lengths:
        """Return the tokens of some sentences of one side, "source" or "target"."""
        ends = self._ends[side]
        return (ends[rows] - np.where(rows > 0, ends[rows - 1], 0)).astype(np.int32)

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


def _in_blocks(pairs: Iterable[IdPair], dtype: str) -> Iterator[list[Side]]:
    """Yield the two sides of `FLUSH` pairs at a time."""
    rest = iter(pairs)
    while some := list(islice(rest, FLUSH)):
        block = []
        for sentences in zip(*some, strict=True):
            ends = np.cumsum([len(ids) for ids in sentences], dtype=np.int64)
            ids = np.fromiter(chain.from_iterable(sentences), dtype, int(ends[-1]))
            block.append((ids, ends))
        yield block


def _digest(directory: Path, facts: Facts) -> str:
    """Return the digest of all ids, or an empty string if they are damaged.

    The files are read and not mapped, so that this process does not seem to need memory for all of them.
    """
    digest = hashlib.sha256()
    starts = dict.fromkeys(SIDES, 0)
    dtype = np.dtype(facts.dtype)
    for first in range(0, facts.pairs, DIGESTED):
        pairs = min(DIGESTED, facts.pairs - first)
        for side in SIDES:
            ends = np.fromfile(directory / f"{side}.ends", np.int64, pairs, offset=8 * first)
            start, starts[side] = starts[side], int(ends[-1])
            if not start <= starts[side] <= facts.tokens(side):
                return ""
            count, offset = starts[side] - start, start * dtype.itemsize
            ids = np.fromfile(directory / f"{side}.ids", dtype, count, offset=offset)
            digest.update(ids.astype("<u4").tobytes() + ends.astype("<i8").tobytes())
    return digest.hexdigest()


def _map(path: Path, dtype: str, count: int) -> npt.NDArray[Any]:
    """Map a file of numbers into memory."""
    expected = count * np.dtype(dtype).itemsize
    size = path.stat().st_size if path.is_file() else -1
    if size != expected:
        found = "is missing" if size < 0 else f"has {size} bytes, not {expected}"
        raise HeadwayError(f"{path}: {found}")
    return np.memmap(path, dtype, mode="r") if count else np.zeros(0, dtype)


def _read_facts(directory: Path) -> Facts:
    path = directory / "corpus.json"
    remedy = "prepare the text again"
    values = read_small_file(path, FORMAT, MOST_BYTES, oldest=FORMAT, instead=remedy)
    with check_writer(path, values):
        try:
            facts = Facts(**values)
            sizes = facts.pairs, facts.source_tokens, facts.target_tokens
            if not (
                facts.dtype in DTYPES
                and isinstance(facts.sha256, str)
                and all(type(size) is int and size >= 0 for size in sizes)
            ):
                raise TypeError("values of other types")
        except TypeError:  # or a name is unknown or missing
            raise HeadwayError(f"{path}: not written by this version of Headway") from None
    return facts
