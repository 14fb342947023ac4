"""Table 1's layer types by processor time and memory (paper: section 4)."""

from dataclasses import dataclass

from headway.ext.paper.measuring.costs import (
    mixing_pass,
    processor_seconds,
    saved_bytes,
    stored_attention_pass,
)
from headway.ext.paper.measuring.fitting import fit_exponents, fit_sum
from headway.ext.paper.measuring.layer_types import LAYER_TYPES, LayerType
from headway.ext.paper.results import Cell, Claim, Finding, Table
from headway.ext.paper.verdicts import holds

MARGIN = 0.25  # of an exponent
KERNEL, WINDOW = 3, 64


@dataclass(frozen=True)
class Range:
    """The sizes at which a layer is measured: several lengths at one width, several widths at one length.

    They are large enough for arithmetic to outweigh the cost of a call, and small enough for the nearer
    caches.
    """

    lengths: tuple[int, ...]
    width: int
    widths: tuple[int, ...]
    length: int

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """All pairs of length and width, those of ``lengths`` first."""
        return [(n, self.width) for n in self.lengths] + [(self.length, d) for d in self.widths]

    def __str__(self) -> str:
        return (
            f"n {self.lengths[0]} to {self.lengths[-1]} at d = {self.width};"
            f" d {self.widths[0]} to {self.widths[-1]} at n = {self.length}"
        )

    def exponents(self, amounts: list[float]) -> tuple[float, float]:
        """Fit the exponents of n and of d, each over the sizes where it alone changes."""
        first = len(self.lengths)
        return (
            fit_exponents(amounts[:first], {"n": self.lengths})["n"],
            fit_exponents(amounts[first:], {"d": self.widths})["d"],
        )


_CONVOLUTION = Range((256, 512, 1024), 256, (256, 512, 768), 512)
RANGES = {
    "self-attention": Range((512, 1024, 2048), 128, (64, 128, 256, 512), 1024),
    "restricted": Range((1024, 2048, 4096), 128, (64, 128, 256, 512), 2048),
    "recurrent": Range((128, 256, 512), 256, (256, 512, 768), 32),
    "convolution": _CONVOLUTION,
    "dilated": _CONVOLUTION,
    "separable": Range((256, 512, 1024), 256, (128, 256, 512), 512),
}


def compare_time_and_memory() -> list[Finding]:
    """Measure the time of every layer type and the bytes that it saves, over its range."""
    times, memories = [], []
    claims = []
    for layer in LAYER_TYPES:
        measured = RANGES[layer.name]
        seconds: list[float] = []
        saved: list[float] = []
        for size in measured.sizes:
            forward, mixer = mixing_pass(layer, *size, k=KERNEL, r=WINDOW)
            seconds.append(processor_seconds(forward))
            saved.append(saved_bytes(forward, mixer))
        found, is_near = fit_time(layer, measured, seconds)
        longest = 1e3 * seconds[len(measured.lengths) - 1]
        times.append((layer.name, layer.complexity, found, str(measured), longest))
        memories.append(memory_row(layer.name, measured, saved))
        claims.append(
            Claim(
                f"The time of {layer.name} grows as O({layer.complexity}).",
                layer.complexity,
                found,
                holds(is_near),
                f"processor time on one thread, the least of five; within {MARGIN}; {measured}",
            )
        )
    measured = RANGES["self-attention"]
    stored: list[float] = [saved_bytes(stored_attention_pass(*size)) for size in measured.sizes]
    memories.append(memory_row("self-attention, every weight stored", measured, stored))
    time_table = Table(
        "Time, measured",
        ("layer", "the paper's O", "fitted", "range", "ms at the longest"),
        tuple(times),
        "Forward, one sentence, one thread; attention without its projections, the others whole."
        " A sum is fitted with a coefficient for each term: the exponent is of the sum.",
    )
    memory_table = Table(
        "Bytes saved for the backward pass",
        ("layer", "exponent of n", "exponent of d", "kB at the longest"),
        tuple(memories),
        "Without parameters. Above 256 keys, attention here goes over the keys in blocks and stores no"
        " weights: its memory is linear in n, and only equation 1 as written keeps n².",
    )
    return [time_table, memory_table, *claims]


def fit_time(layer: LayerType, measured: Range, seconds: list[float]) -> tuple[str, bool]:
    """Fit the exponents of n and of d, or of the whole sum; returns them and whether they are near."""
    if len(layer.terms) > 1:
        terms = [[term(n, d, KERNEL, WINDOW) for n, d in measured.sizes] for term in layer.terms]
        total = fit_sum(seconds, terms)
        return f"(sum)^{total.exponent:.2f}", abs(total.exponent - 1) <= MARGIN
    by_n, by_d = measured.exponents(seconds)
    right_n = 2 if layer.name == "self-attention" else 1
    right_d = 1 if layer.mixer_name == "attention" else 2
    near = abs(by_n - right_n) <= MARGIN and abs(by_d - right_d) <= MARGIN
    return f"n^{by_n:.2f} · d^{by_d:.2f}", near


def memory_row(name: str, measured: Range, saved: list[float]) -> tuple[Cell, ...]:
    """Return a row of the table of saved bytes."""
    by_n, by_d = measured.exponents(saved)
    return name, round(by_n, 3), round(by_d, 3), int(saved[len(measured.lengths) - 1]) // 1000
