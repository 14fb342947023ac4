"""Table 1's rivals by the clock and in memory (paper: section 4)."""

from collections.abc import Callable

from headway.paper.measuring.costs import kept, mixing_of, seconds, stored_attention
from headway.paper.measuring.fitting import exponents, fit_sum
from headway.paper.measuring.layer_types import RIVALS, Rival
from headway.paper.results import Cell, Claim, Table

MARGIN = 0.25
KERNEL, WINDOW = 3, 64
# (positions at one width), (widths at one number of positions): large enough for arithmetic to
# outweigh what each call costs, small enough for the nearer caches.
Range = tuple[tuple[int, ...], int, tuple[int, ...], int]
RANGES: dict[str, dict[str, Range]] = {
    "minutes": {
        "self-attention": ((512, 1024, 2048), 128, (64, 128, 256, 512), 1024),
        "restricted": ((1024, 2048, 4096), 128, (64, 128, 256, 512), 2048),
        "recurrent": ((128, 256, 512), 256, (256, 512, 768), 32),
        "convolution": ((256, 512, 1024), 256, (256, 512, 768), 512),
        "dilated": ((256, 512, 1024), 256, (256, 512, 768), 512),
        "separable": ((256, 512, 1024), 256, (128, 256, 512), 512),
    },
    "toy": {
        "self-attention": ((320, 640), 64, (64, 128), 320),
        "restricted": ((320, 640), 64, (64, 128), 320),
        "recurrent": ((16, 32), 64, (32, 64), 16),
        "convolution": ((16, 32), 64, (32, 64), 16),
        "dilated": ((16, 32), 64, (32, 64), 16),
        "separable": ((16, 32), 64, (32, 64), 16),
    },
}


def measured(size: str) -> tuple[list[Table], list[Claim]]:
    """Time every layer type and weigh what it keeps, over the ranges of a size."""
    times, memories = [], []
    claims = []
    for rival in RIVALS:
        lengths, d, widths, n = RANGES[size][rival.name]
        places = [(m, d) for m in lengths] + [(n, w) for w in widths]
        spent, weights = [], []
        for place in places:
            run, mixer = mixing_of(rival, *place, k=KERNEL, r=WINDOW)
            spent.append(seconds(run, repeats=1 if size == "toy" else 5))
            weights.append(kept(run, mixer))
        found, near = _judge(rival, places, spent, len(lengths))
        scope = (
            f"n {lengths[0]} to {lengths[-1]} at d = {d}; d {widths[0]} to {widths[-1]} at n = {n}"
        )
        times.append((rival.name, rival.said[0], found, scope, 1e3 * spent[len(lengths) - 1]))
        memories.append(_memory(rival.name, places, weights, len(lengths)))
        claims.append(
            Claim(
                f"The time of {rival.name} grows as O({rival.said[0]}).",
                rival.said[0],
                found,
                "holds" if near else "does not",
                f"processor time on one thread, the least of five; within {MARGIN}; {scope}",
                "4, Table 1",
            )
        )
    lengths, d, widths, n = RANGES[size]["self-attention"]
    places = [(m, d) for m in lengths] + [(n, w) for w in widths]
    weights = [kept(stored_attention(*place)) for place in places]
    memories.append(_memory("self-attention, every weight stored", places, weights, len(lengths)))
    time_table = Table(
        "Time, measured",
        ("layer", "the paper's O", "fitted", "range", "ms at the longest"),
        tuple(times),
        "Attention without its projections, the others whole, forward, one sentence, one thread."
        " A sum is fitted with a coefficient for each term: the exponent is of the sum.",
    )
    memory_table = Table(
        "Bytes kept for the backward pass",
        ("layer", "exponent of n", "exponent of d", "kB at the longest"),
        tuple(memories),
        "Parameters apart. Above 256 keys, attention here goes over the keys in blocks and stores no"
        " weights: its memory is linear in n, and only the written-out equation 1 keeps n².",
    )
    return [time_table, memory_table], claims


def _judge(
    rival: Rival, places: list[tuple[int, int]], spent: list[float], first: int
) -> tuple[str, bool]:
    """Fit the exponents of n and of d where each alone changes, or the whole sum."""
    if len(rival.terms) > 1:
        terms: list[Callable[[int, int, int, int], float]] = list(rival.terms)
        values = [[term(n, d, KERNEL, WINDOW) for n, d in places] for term in terms]
        total = fit_sum(spent, values)
        return f"(sum)^{total.exponent:.2f}", abs(total.exponent - 1) <= MARGIN
    by_n = exponents(spent[:first], {"n": [n for n, _ in places[:first]]})["n"]
    by_d = exponents(spent[first:], {"d": [d for _, d in places[first:]]})["d"]
    right_n = 2 if rival.name == "self-attention" else 1
    right_d = 1 if rival.word == "attention" else 2
    near = abs(by_n - right_n) <= MARGIN and abs(by_d - right_d) <= MARGIN
    return f"n^{by_n:.2f} · d^{by_d:.2f}", near


def _memory(
    name: str, places: list[tuple[int, int]], weights: list[int], first: int
) -> tuple[Cell, ...]:
    by_n = exponents(weights[:first], {"n": [n for n, _ in places[:first]]})["n"]
    by_d = exponents(weights[first:], {"d": [d for _, d in places[first:]]})["d"]
    return name, round(by_n, 3), round(by_d, 3), weights[first - 1] // 1000
