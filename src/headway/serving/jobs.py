"""What waits in the server's queue: segments to translate, and other calls."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headway.config import SearchConfig
from headway.inference import Segment, Translator


@dataclass(frozen=True)
class SegmentSearch:
    """A segment to translate."""

    translator: Translator
    search: SearchConfig
    segment: Segment


@dataclass(eq=False)
class Job:
    """A segment to translate, or a function to call, that waits for its turn.

    Attributes:
        work: What to do.
        tokens: Source tokens that the work is about.
        turn: Jobs start in the order of their turns.
        queued_at: Time in seconds.
        result: Set by the event loop when the job is done.
        is_file: Whether the work is for a file, which gives way to all others.
        is_cancelled: Nobody waits for the result. The event loop sets it, a worker thread reads it.
    """

    work: SegmentSearch | Callable[[], object]
    tokens: int
    turn: float
    queued_at: float
    result: asyncio.Future[Any]
    is_file: bool = False
    is_cancelled: bool = False

    @property
    def load(self) -> int:
        """Tokens for which others are rejected if there are too many."""
        return 0 if self.is_file else self.tokens

    def can_share_batch(self, other: "Job") -> bool:
        """Return whether two jobs are segments for the same model with the same settings."""
        mine, theirs = self.work, other.work
        if not isinstance(mine, SegmentSearch) or not isinstance(theirs, SegmentSearch):
            return False
        # Glossaries may differ: what a glossary asks for is in the segments.
        is_same_model = mine.translator.token_search is theirs.translator.token_search
        return is_same_model and mine.search == theirs.search

    def batch_limits(self, tokens: int) -> tuple[int, int]:
        """Return how many tokens a batch may have, and how many each segment counts besides its own.

        Args:
            tokens: Of a batch on a processor; a GPU takes more.
        """
        if not isinstance(self.work, SegmentSearch):
            return tokens, 0
        return self.work.translator.batch_limits(self.work.search, tokens)


def run_batch(batch: Sequence[Job]) -> list[object]:
    """Do the work of a batch.

    Returns:
        For each job its result, or the exception that it raised. If the batch fails, each job runs
        by itself, so that one bad segment fails alone.
    """
    try:
        first = batch[0].work
        if not isinstance(first, SegmentSearch):
            return [None if batch[0].is_cancelled else first()]
        segments = [job.work.segment for job in batch if isinstance(job.work, SegmentSearch)]
        found = first.translator.search_batch(
            segments, first.search, lambda number: not batch[number].is_cancelled
        )
        return list(found)
    except Exception as error:
        if len(batch) == 1:
            return [error]
        return [result for job in batch for result in run_batch([job])]
