"""How fast the server translates at present."""

import math
import time


class Speed:
    """Measures the source tokens that all workers together translate in a second.

    Args:
        workers: Threads that translate.
        memory: Seconds after which a batch counts a third of a new one, so that the speed follows the
            load.

    Attributes:
        tokens_per_second: 0: unknown.
    """

    def __init__(self, workers: int, memory: float) -> None:
        self.workers, self.memory = workers, memory
        self.tokens_per_second = 0.0
        self._recent_tokens = self._recent_seconds = 0.0
        self._batch_ended: float | None = None  # when the last batch ended, if others waited then

    def seconds_for(self, tokens: float) -> float:
        """Return how long so many tokens take; 0 if the speed is unknown."""
        return tokens / self.tokens_per_second if self.tokens_per_second else 0.0

    def add_batch(self, tokens: int, seconds: float) -> None:
        """Count a batch that has just ended."""
        now = time.monotonic()
        # Under load the time between two ends counts: workers may share cores with other programs.
        took = seconds / self.workers
        if self._batch_ended is not None:
            took = max(0.0, now - self._batch_ended)
        kept = math.exp(-took / self.memory)
        self._recent_tokens = kept * self._recent_tokens + tokens
        self._recent_seconds = kept * self._recent_seconds + took
        self.tokens_per_second = self._recent_tokens / max(self._recent_seconds, 1e-6)
        self._batch_ended = now

    def add_other_work(self, seconds: float) -> None:
        """Leave out the time of work that is not translation."""
        if self._batch_ended is not None:
            self._batch_ended += seconds / self.workers

    def pause(self) -> None:
        """Leave out the time until the next batch, because nothing waits."""
        self._batch_ended = None
