"""How sure one may be of a measured difference: intervals by Student's t, and verdicts on claims."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

# A trend "holds" or "does not" by measured differences, or is "not decided". An identity or a count is
# "shown", because no interval belongs to it.
Verdict = Literal["holds", "does not", "not decided", "shown"]
MARGIN = 0.5  # BLEU: a smaller difference is none; the paper calls 0.1 "nearly identical"
MARGIN_NATS = 0.05  # the same of the logarithm of a perplexity
VERDICTS: tuple[Verdict, ...] = ("holds", "does not", "not decided", "shown")


def holds(is_true: bool) -> Verdict:
    """Judge a single measurement."""
    return "holds" if is_true else "does not"


def shown(is_true: bool) -> Verdict:
    """Judge an identity or a count."""
    return "shown" if is_true else "does not"


def verdict(differences: Sequence[float], expected_sign: int) -> Verdict:
    """Judge a trend by paired differences, one for each seed.

    Args:
        differences: Such as the BLEU of a variant less the BLEU of the base with the same seed.
        expected_sign: 1 if the paper's difference is positive, -1 if it is negative.

    Returns:
        "holds" if the 95 % interval of the mean excludes zero on the paper's side, "does not" if it
        excludes zero on the other side, else "not decided".
    """
    _, low, high = t_interval([difference * expected_sign for difference in differences])
    return "holds" if low > 0 else "does not" if high < 0 else "not decided"


def verdict_equal(differences: Sequence[float], margin: float) -> Verdict:
    """Judge a claim that there is no difference.

    Returns:
        "holds" if the whole 95 % interval lies within the margin, "does not" if it lies outside on one
        side, else "not decided".
    """
    _, low, high = t_interval(differences)
    if -margin < low and high < margin:
        return "holds"
    return "does not" if low > margin or high < -margin else "not decided"


def verdict_not_worse(differences: Sequence[float], margin: float) -> Verdict:
    """Judge a claim that something costs no quality.

    Returns:
        "holds" if the 95 % interval lies above -margin, "does not" if it lies below, else "not decided".
    """
    _, low, high = t_interval(differences)
    return "holds" if low >= -margin else "does not" if high < -margin else "not decided"


def if_learned(found: Verdict, least: float, *scores: Sequence[float]) -> Verdict:
    """Return a verdict, or "not decided" if the mean of any scores is below the least.

    Nothing is concluded from models that have hardly learned anything.
    """
    return found if min(sum(group) / len(group) for group in scores) >= least else "not decided"


def interval_text(values: Sequence[float], digits: int = 2, sign: bool = False) -> str:
    """Write mean and interval: ``1.32 (1.10 to 1.54)``. A single value has no interval."""
    mean, low, high = t_interval(values)
    form = f"{{:{'+' if sign else ''}.{digits}f}}".format
    return form(mean) if len(values) < 2 else f"{form(mean)} ({form(low)} to {form(high)})"


def t_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and its 95 % interval by Student's t; one value has an infinite interval."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, -math.inf, math.inf
    half = t_quantile(len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def t_quantile(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t distribution, by bisection of its distribution."""
    low, high = 0.0, 1e3
    while high - low > 1e-9 * max(1.0, low):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_below(middle, degrees) < 0.975 else (low, middle)
    return (low + high) / 2


def _t_below(t: float, degrees: int) -> float:
    """Return P(T < t) for t >= 0: an integral over the angle whose tangent is t / sqrt(degrees)."""
    angles = np.linspace(0.0, math.atan(t / math.sqrt(degrees)), 2001)
    heights = np.cos(angles) ** (degrees - 1)
    step = angles[1] / 3  # Simpson's rule
    area = step * (heights[0] + heights[-1] + 4 * heights[1::2].sum() + 2 * heights[2:-1:2].sum())
    scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    return 0.5 + float(area) * math.exp(scale) / math.sqrt(math.pi)
