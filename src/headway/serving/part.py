"""What waits in the server's queue: parts of texts, and pieces of other work."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headway.config import SearchConfig
from headway.inference import Segment, Translator


@dataclass(eq=False)
class Part:
    """A part of a text, or a piece of other work, that waits for its turn."""

    segment: Segment | None
    tokens: int
    translator: Translator | None
    search: SearchConfig | None
    work: Callable[[], Any] | None
    future: asyncio.Future[Any]
    turn: float
    since: float
    gone: bool = False  # written by the event loop, read by the thread that works on it

    def fits(self, other: "Part") -> bool:
        """Whether the two may share a batch."""
        return (
            self.work is other.work is None
            and self.translator is other.translator
            and self.search == other.search
        )


def work_on(batch: list[Part]) -> list[Any]:
    """Do a batch's work; what fails is returned, and fails alone."""
    try:
        first = batch[0]
        if first.work is not None:
            return [None if first.gone else first.work()]
        assert first.translator is not None
        segments = [part.segment for part in batch if part.segment is not None]
        return list(
            first.translator.search_batch(segments, first.search, lambda i: not batch[i].gone)
        )
    except Exception as error:
        if len(batch) == 1:
            return [error]
        return [answer for part in batch for answer in work_on([part])]
