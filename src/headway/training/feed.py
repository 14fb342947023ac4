"""The order of the training data: a function of the seed, so that a run can resume anywhere.

The plan of an epoch is a list of micro-batches. A step takes a fixed number of them in a row; the
last step of an epoch takes the remaining ones.
"""

import torch

from headway.config import TrainingConfig
from headway.text.batches import Batch, Rows, make_batch, plan_batches, plan_packed
from headway.text.prepared import PreparedData
from headway.text.vocabulary import SPACE
from headway.training import ranks


class Feed:
    """Reads the training data, from a position on.

    Args:
        data: The prepared data.
        config: Its seed, its numbers of tokens and ``packed`` count.
        device: The device of the batches.
        epoch: Number of the epoch, from 0.
        index: Micro-batches of this epoch that have been read.
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
        micro_batches_per_step = -(-config.batch_tokens // config.micro_batch_tokens)
        # Each rank gets equally many micro-batches, of a size that keeps a step within batch_tokens.
        self.micro_batches = -(-micro_batches_per_step // ranks.world_size()) * ranks.world_size()
        self.plan = self._plan()

    def next(self) -> list[Batch]:
        """Return this rank's micro-batches of the next step, and move on."""
        if self.index == len(self.plan):
            self.epoch, self.index = self.epoch + 1, 0
            self.plan = self._plan()
        rows = self.plan[self.index : self.index + self.micro_batches]
        self.index += len(rows)
        return [self.batch(r) for r in rows[ranks.rank() :: ranks.world_size()]]

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
