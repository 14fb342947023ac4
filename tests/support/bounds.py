"""What a hostile file may cost: seconds, and memory."""

import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from timeit import timeit

from support.processes import read_memory

RESET = Path("/proc/self/clear_refs")


def grows_less(work, count, times):
    """Return whether some work takes less than so many times as long for four times of a count.

    It takes about 4 times as long, or 16 if the time is its square. Before and after the fourfold count the single one
    is measured, and the shorter counts: a machine may become slower for a minute, and then both are slower. Only where
    it took too long is it all measured again, because a busy machine may disturb the fourfold count alone.
    """

    def seconds(count):
        return timeit(lambda: work(count), number=1, timer=time.process_time)

    def is_less():
        before, fourfold, after = (seconds(each) for each in (count, 4 * count, count))
        return fourfold < times * min(before, after)

    return any(is_less() for _ in range(3))


@dataclass
class Cost:
    """What some work took: seconds of the processor, and the most memory beside what was held before."""

    seconds: float = 0.0
    megabytes: float = 0.0


@contextmanager
def measured():
    """Measure what runs inside.

    Where the system cannot say what was held at most (it is Linux that can), only time counts.
    """
    cost, before, can_reset = Cost(), 0, RESET.exists()
    if can_reset:
        RESET.write_text("5")  # the most from here on
        before = read_memory("VmRSS")
    started = time.process_time()
    try:
        yield cost
    finally:
        cost.seconds = time.process_time() - started
        if can_reset:
            cost.megabytes = (read_memory("VmHWM") - before) / 1e6


@contextmanager
def bounded(seconds=5, megabytes=200):
    """See that what runs inside takes no more processor time, and never holds more memory beside what is held."""
    cost = Cost()
    try:
        with measured() as cost:
            yield
    finally:
        assert cost.seconds <= seconds, f"{cost.seconds:.1f} s"
        assert cost.megabytes <= megabytes, f"{cost.megabytes:.0f} MB"
