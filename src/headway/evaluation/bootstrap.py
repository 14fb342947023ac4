"""Bootstrap resampling of a test set: intervals of a score, and a test of a difference.

Shapes: N lines, K statistics of a line, R resamples.
"""

import numpy as np
import numpy.typing as npt

from headway.errors import HeadwayError

Array = npt.NDArray[np.float64]

RESAMPLES = 1000
_FEWEST = 40  # with fewer, no resample lies outside a 95 % interval
_MOST = 1_000_000  # with 10 statistics a line, their sums take 80 MB
SEED = 12345  # that of sacreBLEU, which gives the same intervals
_MOST_DRAWS = 1 << 21  # line numbers drawn at once; they take about 40 MB


def resample(counts: Array, resamples: int = RESAMPLES, seed: int = SEED) -> Array:
    """Sum the rows of R random selections of N lines, drawn with replacement.

    The draws depend on N, R and the seed alone and are those of sacreBLEU, so two systems on one test
    set are compared on the same selections. The memory for the draws does not grow with R.

    Args:
        counts: Statistics [N, K].
        resamples: R.
        seed: Of the random numbers.

    Returns:
        Sums [R, K].

    Raises:
        HeadwayError: If R is too small for an interval or too large, or the seed is negative.
    """
    if not _FEWEST <= resamples <= _MOST:
        raise HeadwayError(f"resamples = {resamples:,} must be {_FEWEST} to {_MOST:,}")
    if seed < 0:
        raise HeadwayError(f"seed = {seed} must be 0 or more")
    lines = len(counts)
    generator = np.random.default_rng(seed)
    at_once = max(1, _MOST_DRAWS // lines)
    sums = np.empty((resamples, counts.shape[1]))
    for start in range(0, resamples, at_once):
        block = sums[start : start + at_once]
        drawn = generator.integers(lines, size=(len(block), lines))
        times_drawn = np.stack([np.bincount(row, minlength=lines) for row in drawn])
        block[:] = times_drawn.astype(np.float64) @ counts
    return sums


def interval(scores: Array) -> tuple[float, float]:
    """Return the bounds of the middle 95 % of the resamples' scores, as sacreBLEU picks them."""
    ordered = np.sort(scores)
    beyond = len(ordered) // 40
    return float(ordered[beyond]), float(ordered[len(ordered) - beyond - 1])


def p_value(differences: Array, observed: float) -> float:
    """Return the probability of a difference at least as large by chance alone (two-sided).

    The resampled differences, shifted to a mean of zero, represent "no difference". A test at 0.05 is
    then wrong about once in twenty times, and agrees with the interval of the difference.

    Args:
        differences: Score of B minus score of A in each resample [R].
        observed: The difference on the whole text.
    """
    by_chance = np.abs(differences - differences.mean())
    return _at_least(by_chance >= abs(observed))


def sacrebleu_p_value(differences: Array, observed: float) -> float:
    """Return the p-value that ``sacrebleu --paired-bs`` prints.

    sacreBLEU takes absolute values before it shifts, which halves the p-value of a clear difference:
    a test at 0.05 is wrong about once in ten times. It is given for comparison with published values.
    """
    sizes = np.abs(differences)
    return _at_least(sizes - sizes.mean() > abs(observed))


def _at_least(hits: npt.NDArray[np.bool_]) -> float:
    """Return the share of hits, plus one, so that a finite number of resamples never gives p = 0."""
    return float((hits.sum() + 1) / (len(hits) + 1))
