"""What a hostile file may cost: seconds, and memory."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _memory(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", STATUS.read_text())
    assert found
    return int(found[1])


@contextmanager
def bounded(seconds: float = 5, megabytes: float = 200) -> Iterator[None]:
    """See that what runs inside takes no longer and never holds more memory than that beside what is held.

    Where the system cannot say what was held at most (it is Linux that can), only time counts.
    """
    before = 0
    if RESET.exists():
        RESET.write_text("5")  # the most from here on
        before = _memory("VmRSS")
    started = time.perf_counter()
    try:
        yield
    finally:
        took = time.perf_counter() - started
        assert took <= seconds, f"{took:.1f} s"
        if RESET.exists():
            grown = (_memory("VmHWM") - before) / 1024
            assert grown <= megabytes, f"{grown:.0f} MB"
