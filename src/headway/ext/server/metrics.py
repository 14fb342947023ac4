"""The server's counters and histograms, in Prometheus' text format."""

from collections.abc import Callable
from functools import cache, partial

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
COUNTS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """What one server counts and measures. Labels are the server's own words, never a client's."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        count, measure = partial(Counter, registry=registry), partial(Histogram, registry=registry)
        self.requests = count("headway_requests", "Requests answered.", ("endpoint", "status"))
        self.request_seconds = measure(
            "headway_request_seconds",
            "Time from a request's header to its answer.",
            ("endpoint",),
            buckets=SECONDS,
        )
        self.of_request = cache(self._of_request)
        self.rejected = count(
            "headway_rejected",
            "Requests rejected because of overload, other than files that find no place.",
        )
        self.cancelled = count(
            "headway_cancelled", "Requests whose client left or whose deadline passed."
        )
        self.tokens = count("headway_tokens", "Source tokens translated or aligned.")
        self.segments = count("headway_segments", "Segments translated or aligned.")
        self.batch_segments = measure(
            "headway_batch_segments", "Segments in a batch.", buckets=COUNTS
        )
        self.batch_seconds = measure(
            "headway_batch_seconds", "Time that a batch takes.", buckets=SECONDS
        )
        self.reloads = count("headway_reloads", "Reloads of the models.", ("outcome",))

    def _of_request(self, path: str, status: int) -> tuple[Counter, Histogram]:
        return self.requests.labels(path, str(status)), self.request_seconds.labels(path)

    def add_gauge(self, name: str, description: str, value: Callable[[], float]) -> None:
        """Add a gauge whose value is computed when the metrics are read."""
        Gauge(name, description, registry=self.registry).set_function(value)

    def value(self, name: str, **labels: str) -> float:
        """Return the value of a sample; 0 if nothing has been counted."""
        return self.registry.get_sample_value(name, labels) or 0.0

    def to_text(self) -> str:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry).decode()
