"""The order of the training data: a function of the seed, so that a run can resume anywhere.

The plan of an epoch is a list of micro-batches. A step takes a fixed number of them in a row; the
last step of an epoch takes the remaining ones. Neither depends on the number of ranks, each of which
makes the batches of its own micro-batches only.
"""

import torch

from headway.config import TrainingConfig
from headway.errors import HeadwayError
from headway.text.batches import Batch, Rows, make_batch, plan_batches, plan_packed
from headway.text.prepared import PreparedData
from headway.text.vocabulary import SPACE
from headway.training import parallel
from headway.training.gradient_tree import share_of
from headway.training.trainer import Step


class Feed:
    """Reads the training data, from a position on.

    Args:
        data: The prepared data.
        config: Its seed, its numbers of tokens and ``packed`` count.
        device: The device of the batches.
        epoch: Number of the epoch, from 0.
        index: Micro-batches of this epoch that have been read.

    Raises:
        HeadwayError: If there are more ranks than micro-batches of a step.
    """

    def __init__(
        self,
        data: PreparedData,
        config: TrainingConfig,
        device: torch.device,
        epoch: int = 0,
        index: int = 0,
    ) -> None:
        self.data = data
        self.config = config
        self.device = device
        self.epoch, self.index = epoch, index
        self.micro_batches = config.micro_batches_per_step
        if parallel.world_size() > self.micro_batches:
            raise HeadwayError(
                f"a step has {self.micro_batches} micro-batches (training.batch_tokens = {config.batch_tokens},"
                f" divided by micro_batch_tokens = {config.micro_batch_tokens}), too few for"
                f" {parallel.world_size()} ranks: give --ranks {self.micro_batches} or fewer"
            )
        self.plan = self._plan()

    def next(self) -> Step:
        """Return the data of the next step, and move on."""
        if self.index == len(self.plan):
            self.epoch, self.index = self.epoch + 1, 0
            self.plan = self._plan()
        rows = self.plan[self.index : self.index + self.micro_batches]
        self.index += len(rows)
        own = share_of(parallel.rank(), parallel.world_size(), len(rows))
        lengths = self.data.train.target_lengths
        return Step(
            batches=[self.batch(rows[number]) for number in own],
            count=len(rows),
            target_tokens=sum(int(lengths[batch].sum()) for batch in rows),
        )

    def batch(self, rows: Rows) -> Batch:
        """Make the batch of these rows of the training corpus."""
        tokenizer = self.data.tokenizer
        pads = tokenizer.source_pad, tokenizer.target_pad
        return make_batch(self.data.train, rows, *pads, packed=self.config.packed).to(self.device)

    def text(self, batch: Batch) -> list[tuple[str, str]]:
        """Return a batch's sentences as people read them."""
        tokenizer = self.data.tokenizer
        found = []
        for row in batch.pair_indices:
            source, target = self.data.train.pair(int(row))
            subwords = "".join(tokenizer.source_subwords(source.tolist()[:-1]))
            found.append((subwords.replace(SPACE, " ").strip(), tokenizer.decode(target.tolist())))
        return found

    def _plan(self) -> list[Rows]:
        plan = plan_packed if self.config.packed else plan_batches
        return plan(
            self.data.train.source_lengths,
            self.data.train.target_lengths,
            max(1, self.config.batch_tokens // self.micro_batches),
            self.config.seed,
            self.epoch,
        )
