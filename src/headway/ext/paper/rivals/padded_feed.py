"""The steps of a packed training, with a row for each sentence, which is what rivals read."""

from dataclasses import replace

import numpy as np

from headway.text import read_batch
from headway.training import Feed, Step
from headway.translation import batch_by_length

_PARTS = 4  # of a step; the sentences of a part have like lengths


class PaddedFeed(Feed):
    """Reads the same pairs in each step as `Feed` does, of mixed lengths, and pads them.

    In the built-in corpus the length of a sentence depends on its kind. In steps of like lengths, which hold a few
    kinds each, the Transformer learns next to nothing (25 instead of 87 BLEU). The sentences of a step are in several
    batches of like lengths, because the time of some rivals grows with the square of the longest.
    """

    def next(self) -> Step:
        """Return the data of the next step, and move on."""
        step = super().next()
        rows = np.concatenate([batch.pair_indices for batch in step.batches])
        corpus, tokenizer = self.data.train, self.data.tokenizer
        pads = tokenizer.source_pad, tokenizer.target_pad
        lengths = np.maximum(*(corpus.lengths_at(side, rows) for side in ("source", "target")))
        groups = batch_by_length(lengths.tolist(), self.config.batch_tokens // _PARTS)
        batches = [
            read_batch(corpus, rows[group], *pads, packed=False).to(self.device) for group in groups
        ]
        return replace(step, batches=batches, count=len(batches))
