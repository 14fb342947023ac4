"""What a hostile file may cost: seconds, and memory."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from timeit import timeit

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _memory(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", STATUS.read_text())
    assert found
    return int(found[1])


def grows_less(work: Callable[[int], object], count: int, times: float) -> bool:
    """Return whether some work takes less than so many times as long for four times of a count.

    It takes about 4 times as long, or 16 if the time is its square. Before and after the fourfold count the single one
    is measured, and the shorter counts: a machine may become slower for a minute, and then both are slower. Only where
    it took too long is it all measured again, because a busy machine may disturb the fourfold count alone.
    """

    def seconds(count: int) -> float:
        return timeit(lambda: work(count), number=1, timer=time.process_time)

    def is_less() -> bool:
        before, fourfold, after = (seconds(each) for each in (count, 4 * count, count))
        return fourfold < times * min(before, after)

    return any(is_less() for _ in range(3))


@contextmanager
def bounded(seconds: float = 5, megabytes: float = 200) -> Iterator[None]:
    """See that what runs inside takes no more processor time, and never holds more memory beside what is held.

    Where the system cannot say what was held at most (it is Linux that can), only time counts.
    """
    before = 0
    if RESET.exists():
        RESET.write_text("5")  # the most from here on
        before = _memory("VmRSS")
    started = time.process_time()
    try:
        yield
    finally:
        took = time.process_time() - started
        assert took <= seconds, f"{took:.1f} s"
        if RESET.exists():
            grown = (_memory("VmHWM") - before) / 1024
            assert grown <= megabytes, f"{grown:.0f} MB"
