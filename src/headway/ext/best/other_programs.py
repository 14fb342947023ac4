"""How busy other programs keep the cores of this machine."""

import os
import time
from pathlib import Path

STAT = Path("/proc/stat")  # of Linux


class OtherPrograms:
    """Counts the processor time of all programs but this one and its finished children, from now on."""

    def __init__(self) -> None:
        self._seconds, self._began = _count_others(), time.monotonic()

    def busy_cores(self) -> float:
        """Return how many cores they have kept busy on average; 0 where the system does not count their time."""
        seconds = _count_others() - self._seconds
        return max(0.0, seconds / max(1e-9, time.monotonic() - self._began))


def _count_others() -> float:
    """Return the seconds of processor time since some moment, without those of this program and its children."""
    try:
        first = STAT.read_text().splitlines()[0]
    except OSError:
        return 0.0
    user, nice, system, _, _, irq, softirq, steal, *_ = map(int, first.split()[1:])
    busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
    return busy - sum(os.times()[:4])
