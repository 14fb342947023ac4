"""From source ids to hypotheses: batches of like length, threads, and the search asked for."""

import sys
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.inference.engine import Engine, make_engine
from headway.inference.grouping import like_lengths
from headway.inference.sampling import sample
from headway.inference.search import Hypothesis, Ids, beam_search
from headway.inference.shortlist import Shortlist
from headway.model import Transformer
from headway.text.tokenizer import Tokenizer


class Finder:
    """Finds translations of ids; neighbours in a batch change nothing.

    Args:
        model: In fp32 and evaluation mode. Its weights are read when `engine` is first called.
        tokenizer: For its control symbols and sizes.
        directory: Of the model, where a shortlist lies; None: it comes from none.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer, directory: Path | None) -> None:
        self.model, self.tokenizer, self.directory = model, tokenizer, directory
        self._engines: dict[str, Engine] = {}

    @property
    def positions(self) -> int:
        """The most tokens a side can have: a learned position table ends."""
        shape = self.model.config
        return shape.max_positions if shape.positions == "learned" else sys.maxsize

    def engine(self, precision: str) -> Engine:
        """Return what runs the model's steps in a precision; made at the first call."""
        if precision not in self._engines:
            self._engines[precision] = make_engine(self.model, precision)
        return self._engines[precision]

    def parallel(self, precision: str) -> bool:
        """Whether several batches may run at once."""
        return self.engine(precision).threads

    def limit(self, source: Sequence[int], search: SearchConfig, prefix: int = 0) -> int:
        """Return the most tokens that the translation of some source ids may have."""
        return min(len(source) + search.max_extra + prefix, self.positions)

    def find_all(
        self, sources: Sequence[list[int]], starts: Sequence[list[int]], search: SearchConfig
    ) -> list[list[Hypothesis]]:
        """Search for the translations of any number of sources, in batches, on all threads.

        Args:
            sources: Ids with ``</s>``.
            starts: Ids that each translation begins with.
            search: How.

        Returns:
            For each source its n best, or its n samples.
        """
        engine = self.engine(search.precision)
        self.check(search)

        def find(rows: list[int]) -> list[list[Hypothesis]]:
            return self.find([sources[i] for i in rows], [starts[i] for i in rows], search)

        batches = list(like_lengths([len(s) for s in sources], search.batch_tokens))
        found: list[list[Hypothesis]] = [[]] * len(sources)
        workers = min(torch.get_num_threads(), len(batches)) if engine.threads else 1
        # Native code lets go of the interpreter: as many batches run at once as there are threads.
        with ThreadPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
            answers = pool.map(find, batches) if pool is not None else map(find, batches)
            for rows, batch in zip(batches, answers, strict=True):
                for i, answer in zip(rows, batch, strict=True):
                    found[i] = answer
        return found

    @torch.inference_mode()
    def find(
        self,
        sources: Sequence[list[int]],
        starts: Sequence[list[int]],
        search: SearchConfig,
        wanted: Callable[[int], bool] | None = None,
    ) -> list[list[Hypothesis]]:
        """Search for the translations of some sources in one batch, in this thread.

        Args:
            sources: Ids with ``</s>``.
            starts: Ids that each translation begins with.
            search: How.
            wanted: As `beam_search` takes it; sampling does not ask.
        """
        limits = [self.limit(s, search, len(p)) for s, p in zip(sources, starts, strict=True)]
        beams = search.n_best if search.sample else search.beam
        longest = max(max(limits), 1 + max(map(len, starts)))
        choices = self._choices(sources, starts, search)
        started = self.engine(search.precision).start(sources, beams, longest, choices)
        ends = {"eos": self.tokenizer.eos, "pad": self.tokenizer.target_pad}
        if not search.sample:
            return beam_search(
                started,
                limits,
                beam=beams,
                alpha=search.alpha,
                n_best=search.n_best,
                prefixes=starts,
                wanted=wanted,
                **ends,
            )
        return sample(
            started,
            limits,
            # A draw depends on the seed and the text alone, not on its line's number.
            seeds=[
                [(search.seed, draw, _fingerprint(source)) for draw in range(beams)]
                for source in sources
            ],
            temperature=search.temperature,
            top_k=search.top_k,
            top_p=search.top_p,
            prefixes=starts,
            **ends,
        )

    def check(self, search: SearchConfig) -> None:
        """Raise a `HeadwayError` before any work begins if a shortlist is asked for and missing."""
        if search.shortlist:
            _ = self._shortlist

    @cached_property
    def _shortlist(self) -> Shortlist:
        sizes = self.tokenizer.source_vocab_size, self.tokenizer.target_vocab_size
        if self.directory is None:
            raise HeadwayError("search.shortlist: this model comes from no directory")
        return Shortlist.load(self.directory, sizes)

    def _choices(
        self, sources: Sequence[list[int]], starts: Sequence[list[int]], search: SearchConfig
    ) -> list[Ids] | None:
        """Return the target ids each sentence may take; None: all."""
        if not search.shortlist or search.sample:
            return None
        # With one vocabulary for both sides a token may always be copied.
        joint = self.model.config.tying == "three-way"
        ends = self.tokenizer.eos, self.tokenizer.target_pad
        return [
            self._shortlist.pick(source, search.shortlist, [*ends, *p, *(source if joint else ())])
            for source, p in zip(sources, starts, strict=True)
        ]


def _fingerprint(ids: Sequence[int]) -> int:
    return zlib.crc32(np.asarray(ids, dtype=np.int64).tobytes())
