"""The order of the training data: a function of the seed, so that a run can resume anywhere.

The corpus is read in blocks of pairs, which are drawn anew in each epoch (`Mixture`). The plan of a block is a list of micro-batches.
A step takes a fixed number of them in a row; only the last step of an epoch may take fewer. None of this depends on the number of ranks, each of which makes the batches of its own
micro-batches only. A thread makes the batches of the next step while this one is computed.
"""

import math
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import torch

from headway.config import TrainingConfig
from headway.model.visibility import RowShape
from headway.text.batches import (
    Batch,
    Rows,
    check_labels,
    fixed_shape,
    plan_batches,
    plan_packed,
    read_batch,
)
from headway.text.prepared import PreparedData
from headway.text.shards import SIDES
from headway.training import parallel
from headway.training.steps.gradient_sum import share_of
from headway.training.steps.sharding import turns_of
from headway.training.steps.trainer import Step

BLOCK = 1 << 20  # pairs; planned together, so that memory and time do not grow with the corpus
STRETCH = 1024  # neighboring pairs, at most
SHARES = 64  # A block has at least so many stretches of each group, if the group has the pairs.


class Mixture:
    """The pairs of each epoch, in blocks that have the same share of every group: a function of the seed and the epoch.

    A corpus consists of groups, one for each pair of languages. Temperature sampling (Arivazhagan et al. 2019)
    repeats the pairs of small groups. Every pair occurs at least once in an epoch, and those of the largest
    group exactly once.

    A block has stretches of neighboring pairs from all over the corpus, drawn anew in each epoch: texts that were joined,
    one behind the other, are learned together, and the disk is still read in long pieces.

    With temperature T, a group of n pairs is repeated (largest / n) ** (1 - 1 / T) times. The fraction of
    this number is the share of its pairs, drawn anew in each epoch, that occur once more.

    Args:
        sizes: Pairs of each group; the groups follow each other in the corpus.
        temperature: 1: every pair occurs once.
        block: The largest number of pairs of a block, but for rounding; at least the number of groups.
        seed: Of the draws.

    Attributes:
        blocks: Number of blocks of an epoch. A corpus of one block is read in its own order.
    """

    def __init__(self, sizes: Sequence[int], temperature: float, block: int, seed: int) -> None:
        self._seed = seed
        self._sizes = sizes
        largest = max(sizes)
        self._repeats = [(largest / size) ** (1 - 1 / temperature) for size in sizes]
        total = sum(size * repeats for size, repeats in zip(sizes, self._repeats, strict=True))
        self.blocks = math.ceil(total / block)

    def parts(self, epoch: int, block: int) -> list[list[range]]:
        """Return the stretches of neighboring pairs of each group that a block has, in the order of the corpus."""
        random = np.random.Generator(np.random.PCG64([self._seed, epoch, 1]))
        starts = accumulate(self._sizes, initial=0)
        parts = []
        for start, size in zip(starts, self._sizes, strict=False):
            length = min(STRETCH, math.ceil(size / (SHARES * self.blocks)))
            count = math.ceil(size / length)
            first, end = (count * number // self.blocks for number in (block, block + 1))
            drawn = start + length * np.sort(random.permutation(count)[first:end])
            parts.append([range(at, min(at + length, start + size)) for at in drawn.tolist()])
        return parts

    def rows(self, epoch: int, block: int) -> Rows:
        """Return the pairs of a block, some of them several times."""
        random = np.random.Generator(np.random.PCG64([self._seed, epoch, 2, block]))
        found = []
        for part, repeats in zip(self.parts(epoch, block), self._repeats, strict=True):
            stretches = [np.arange(stretch.start, stretch.stop) for stretch in part]
            rows = np.concatenate([np.arange(0), *stretches])  # a small group may have none here
            share, times = math.modf(repeats)
            drawn = random.permutation(len(rows))[: round(share * len(rows))]
            found += [rows] * int(times) + [rows[np.sort(drawn)]]
        return np.concatenate(found)


class Position(NamedTuple):
    """A place in the training data.

    Attributes:
        epoch: Completed passes over the data.
        block: Blocks of this epoch that have been read.
        taken: Micro-batches of the next block that have been read.
    """

    epoch: int = 0
    block: int = 0
    taken: int = 0


START = Position()


class Feed:
    """Reads the training data, from a position on.

    Args:
        data: The prepared data.
        config: Its seed, its numbers of tokens and ``packed`` count.
        device: The device of the batches.
        position: Where to begin.

    Attributes:
        position: Where the next step begins.

    Raises:
        ValueError: If there is no such position.
    """

    def __init__(
        self,
        data: PreparedData,
        config: TrainingConfig,
        device: torch.device,
        position: Position = START,
    ) -> None:
        self.data = data
        self.config = config
        self.device = device
        self.position = position
        self.micro_batches = config.micro_batches_per_step
        sizes = [group.training_pairs for group in data.groups]
        self._mixture = Mixture(sizes, config.group_temperature, BLOCK, config.seed)
        # A CPU gains nothing from rows of one shape.
        self.shape = self.row_shape() if config.packed and device.type != "cpu" else None
        self._plans: dict[tuple[int, int], Future[list[Rows]]] = {}  # by epoch and block
        self._planner = ThreadPoolExecutor(1, "plans")
        self._thread = ThreadPoolExecutor(1, "batches")
        self._ahead: Future[tuple[Step, Position]] | None = None
        # Another version of Headway may have made more micro-batches of this block, but not more than it has pairs.
        if not (0 <= position.block < self._mixture.blocks and position.taken <= 2 * BLOCK):
            raise ValueError("block or index is beyond the data")
        self.plan(position)  # a pair that is too long is an error now

    def next(self) -> Step:
        """Return the data of the next step, and move on."""
        ahead = self._ahead or self._thread.submit(self._read, self.position)
        step, self.position = ahead.result()
        self._ahead = self._thread.submit(self._read, self.position)
        return step

    def plan(self, position: Position) -> list[Rows]:
        """Return the micro-batches of the block at a position.

        Raises:
            HeadwayError: If a pair is longer than a micro-batch.
        """
        epoch, block, _ = position
        following = (epoch, block + 1) if block + 1 < self._mixture.blocks else (epoch + 1, 0)
        own = (epoch, block)
        self._plans = {
            place: self._plans.get(place) or self._planner.submit(self._make_plan, *place)
            for place in (own, following)  # the next block is planned while this one is read
        }
        return self._plans[own].result()

    def batch(self, rows: Rows) -> Batch:
        """Make the batch of these rows of the training corpus."""
        tokenizer = self.data.tokenizer
        pads = tokenizer.source_pad, tokenizer.target_pad
        batch = read_batch(
            self.data.train, rows, *pads, packed=self.config.packed, shape=self.shape
        )
        if self.device.type != "cpu":  # where the loss would have to wait for the largest label
            check_labels(batch, tokenizer.target_vocab_size)
        return batch.to(self.device)

    def row_shape(self) -> RowShape:
        """Return the one shape of all packed rows of a run on a GPU."""
        corpus = self.data.train
        longest = max(1, *(corpus.find_longest(side) for side in SIDES))
        mean = max(corpus.source_tokens, corpus.target_tokens) / len(corpus)
        return fixed_shape(self.config.batch_tokens // self.micro_batches or 1, longest, mean)

    def _make_plan(self, epoch: int, block: int) -> list[Rows]:
        seed = self.config.seed
        corpus = self.data.train
        for part in self._mixture.parts(epoch, block):
            for stretch in part:
                corpus.read_ahead(stretch)
        rows = self._mixture.rows(epoch, block)
        plan = plan_packed if self.config.packed else plan_batches
        sources, targets = (corpus.lengths_at(side, rows) for side in ("source", "target"))
        tokens = max(1, self.config.batch_tokens // self.micro_batches)
        return [rows[numbers] for numbers in plan(sources, targets, tokens, seed, epoch)]

    def _read(self, position: Position) -> tuple[Step, Position]:
        """Return the data of the step at a position, and the position after it."""
        epoch, block, index = position
        if block + 1 == self._mixture.blocks and index >= len(
            self.plan(position)
        ):  # the end of an epoch
            epoch, block, index = epoch + 1, 0, 0
        rows: list[Rows] = []
        while True:
            plan = self.plan(Position(epoch, block))
            taken = plan[index : index + self.micro_batches - len(rows)]
            rows += taken
            index += len(taken)
            if index < len(plan) or block + 1 == self._mixture.blocks:
                break
            block, index = block + 1, 0
        divide = turns_of if self.config.shard else share_of
        own = divide(parallel.rank(), parallel.world_size(), len(rows))
        targets = (self.data.train.lengths_at("target", batch) for batch in rows)
        step = Step(
            batches=[self.batch(rows[number]) for number in own],
            count=len(rows),
            target_tokens=sum(int(lengths.sum(dtype=np.int64)) for lengths in targets),
        )
        return step, Position(epoch, block, index)
