"""Writing token ids to disk: see `headway.text.shards` for the files."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headway import __version__

Ids = npt.NDArray[np.unsignedinteger]
Lengths = npt.NDArray[np.int32]
IdPair = tuple[Sequence[int], Sequence[int]]

FORMAT = 2
FLUSH = 1 << 16  # pairs that are written at once; the digest of a corpus depends on it
SIDES = ("source", "target")
DTYPES: dict[str, type[np.unsignedinteger]] = {"uint16": np.uint16, "uint32": np.uint32}


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


class Side(NamedTuple):
    """One side of some pairs: the ids of all sentences, and the length of each sentence."""

    ids: Ids
    lengths: Lengths

    def slice(self, start: int, end: int) -> "Side":
        """Return some of the sentences."""
        first = int(self.lengths[:start].sum())
        lengths = self.lengths[start:end]
        return Side(self.ids[first : first + int(lengths.sum())], lengths)

    @staticmethod
    def join(sides: "Sequence[Side]") -> "Side":
        """Join sentences."""
        return Side(
            np.concatenate([s.ids for s in sides]), np.concatenate([s.lengths for s in sides])
        )

    @staticmethod
    def make(sentences: Sequence[Sequence[int]], dtype: str) -> "Side":
        """Return sentences of ids as arrays."""
        lengths = np.array([len(ids) for ids in sentences], np.int32)
        return Side(np.fromiter(chain.from_iterable(sentences), dtype, int(lengths.sum())), lengths)


class IdBlock(NamedTuple):
    """Some pairs."""

    source: Side
    target: Side

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return len(self.source.lengths)

    def slice(self, start: int, end: int) -> "IdBlock":
        """Return some of the pairs."""
        return IdBlock(self.source.slice(start, end), self.target.slice(start, end))

    @staticmethod
    def join(blocks: "Sequence[IdBlock]") -> "IdBlock":
        """Join pairs."""
        return IdBlock(Side.join([b.source for b in blocks]), Side.join([b.target for b in blocks]))


def choose_dtype(vocab_size: int) -> str:
    """Return the type of ids in a vocabulary: up to 65,536 an id takes two bytes, else four."""
    return "uint16" if vocab_size <= 1 << 16 else "uint32"


def write_corpus(directory: Path, blocks: Iterable[IdBlock], dtype: str) -> None:
    """Write a corpus in constant memory.

    Args:
        directory: A directory that does not exist yet.
        blocks: The pairs; how they are divided into blocks does not matter.
        dtype: The type of an id, a name in `DTYPES`.
    """
    directory.mkdir(parents=True)
    facts = Facts(headway=__version__, dtype=dtype)
    digest = hashlib.sha256()
    with ExitStack() as stack:
        files = {
            name: stack.enter_context((directory / name).open("wb"))
            for name in (f"{side}.{part}" for side in SIDES for part in ("ids", "ends"))
        }
        for block in _rearrange(blocks):
            for side, (ids, lengths) in zip(SIDES, block, strict=True):
                ends = facts.tokens(side) + np.cumsum(lengths, dtype=np.int64)
                files[f"{side}.ids"].write(ids.tobytes())
                files[f"{side}.ends"].write(ends.tobytes())
                digest.update(ids.astype("<u4").tobytes() + ends.astype("<i8").tobytes())
            facts.source_tokens += len(block.source.ids)
            facts.target_tokens += len(block.target.ids)
            facts.pairs += block.pairs
    facts.sha256 = digest.hexdigest()
    (directory / "corpus.json").write_text(json.dumps(asdict(facts), indent=2) + "\n")


def in_blocks(pairs: Iterable[IdPair], dtype: str) -> Iterator[IdBlock]:
    """Yield pairs of ids as blocks."""
    rest = iter(pairs)
    while some := list(islice(rest, FLUSH)):
        yield IdBlock(*(Side.make(sentences, dtype) for sentences in zip(*some, strict=True)))


def _rearrange(blocks: Iterable[IdBlock]) -> Iterator[IdBlock]:
    """Yield the same pairs in blocks of `FLUSH` pairs; the last block may have fewer."""
    pending: list[IdBlock] = []
    count = 0
    for block in blocks:
        start = 0
        while count + block.pairs - start >= FLUSH:
            end = start + FLUSH - count
            yield IdBlock.join([*pending, block.slice(start, end)])
            pending, count, start = [], 0, end
        if start < block.pairs:
            pending.append(block.slice(start, block.pairs))
            count += block.pairs - start
    if pending:
        yield IdBlock.join(pending)
