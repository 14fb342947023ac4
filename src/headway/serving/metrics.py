"""Counters in the text format that Prometheus reads."""

import bisect
import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

HELP = {
    "headway_requests_total": "Requests answered, by endpoint and status.",
    "headway_request_seconds": "Time from a request's header to its answer, by endpoint.",
    "headway_rejected_total": "Requests refused because the queue was full.",
    "headway_cancelled_total": "Requests whose client left or whose time ran out.",
    "headway_tokens_total": "Source tokens translated, and counted again where they are aligned.",
    "headway_parts_total": "Sentences, or parts of them, translated, and again where they are aligned.",
    "headway_batch_parts": "Sentences, or parts of them, in a batch.",
    "headway_batch_seconds": "Time a batch took.",
    "headway_reloads_total": "Times the models were read again, by outcome.",
    "headway_queue_tokens": "Source tokens waiting.",
    "headway_queue_texts": "Texts waiting or being translated.",
    "headway_connections": "Open connections.",
    "process_resident_memory_bytes": "Memory in use.",
    "process_open_fds": "Open files and connections.",
}
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
COUNTS = (1, 2, 4, 8, 16, 32, 64)
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """What has been counted and measured; labels are of our own making, never a client's."""

    def __init__(self) -> None:
        self.counters: dict[tuple[str, Labels], float] = defaultdict(float)
        self.histograms: dict[tuple[str, Labels], list[float]] = {}
        self.gauges: dict[str, Callable[[], float]] = {
            "process_resident_memory_bytes": resident_bytes,
            "process_open_fds": open_files,
        }

    def count(self, name: str, amount: float = 1, labels: Labels = ()) -> None:
        """Add to a counter."""
        self.counters[name, labels] += amount

    def observe(self, name: str, value: float, labels: Labels = ()) -> None:
        """Add a value to a histogram."""
        bounds = _bounds(name)
        # Counts by bucket, then the sum.
        values = self.histograms.setdefault((name, labels), [0.0] * (len(bounds) + 2))
        values[bisect.bisect_left(bounds, value)] += 1
        values[-1] += value

    def text(self) -> str:
        """Return everything in Prometheus' text format."""
        kinds: dict[str, tuple[str, list[str]]] = {}

        def add(name: str, kind: str, *lines: str) -> None:
            kinds.setdefault(name, (kind, []))[1].extend(lines)

        for (name, labels), total in sorted(self.counters.items()):
            add(name, "counter", f"{name}{_braces(labels)} {total:g}")
        for (name, labels), values in sorted(self.histograms.items()):
            running = 0.0
            for bound, count in zip((*_bounds(name), "+Inf"), values, strict=False):
                running += count
                add(
                    name,
                    "histogram",
                    f"{name}_bucket{_braces((*labels, ('le', str(bound))))} {running:g}",
                )
            add(name, "histogram", f"{name}_sum{_braces(labels)} {values[-1]:.9g}")
            add(name, "histogram", f"{name}_count{_braces(labels)} {running:g}")
        for name, value in self.gauges.items():
            add(name, "gauge", f"{name} {value():g}")
        return "".join(
            f"# HELP {name} {HELP[name]}\n# TYPE {name} {kind}\n" + "\n".join(lines) + "\n"
            for name, (kind, lines) in kinds.items()
        )


def _bounds(name: str) -> tuple[float, ...]:
    return COUNTS if name.endswith("_parts") else SECONDS


def _braces(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}" if labels else ""


def resident_bytes() -> float:
    """Return the process's memory; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def open_files() -> float:
    """Return how many descriptors are open; 0 where the system does not tell."""
    try:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:
        return 0
