"""How sure one may be of a measured difference: intervals by Student's t, and verdicts on claims."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


def verdict(differences: Sequence[float], expected_sign: int, spread: float = 0.0) -> Verdict:
    """Judge a trend by paired differences, one for each seed.

    Args:
        differences: Such as the BLEU of a variant less the BLEU of the base with the same seed.
        expected_sign: 1 if the paper's difference is positive, -1 if it is negative.
        spread: See `t_interval`.

    Returns:
        "holds" if the 95 % interval of the mean excludes zero on the paper's side, "does not" if it
        excludes zero on the other side, else "not decided".
    """
    _, low, high = t_interval([difference * expected_sign for difference in differences], spread)
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


def verdict_needed(having: Sequence[float], lacking: Sequence[float], least: float) -> Verdict:
    """Judge a claim that models learn only with some part.

    Args:
        having: Scores of the models that have the part.
        lacking: Scores of those that lack it.
        least: The score from which on a model has learned.

    Returns:
        "holds" if the models with the part have learned and the others have not, "does not" if the others have
        learned, too, by their 95 % intervals; else "not decided".
    """
    if t_interval(having)[1] < least:
        return "not decided"
    _, low, high = t_interval(lacking)
    return "holds" if high < least else "does not" if low >= least else "not decided"


def if_learned(found: Verdict, least: float, *scores: Sequence[float]) -> Verdict:
    """Return a verdict, or "not decided" if the mean of any scores is below the least.

    Nothing is concluded from models that have hardly learned anything.
    """
    return found if min(sum(group) / len(group) for group in scores) >= least else "not decided"


@dataclass(frozen=True)
class Gate:
    """The score below which a model has hardly learned anything, and so decides nothing.

    Attributes:
        least: The least mean of the seeds.
        earlier: The limit when the first results were seen, if it was another one: a claim names both verdicts.
    """

    least: float
    earlier: float | None = None

    def judge(self, rule: Callable[[float], Verdict]) -> tuple[Verdict, str]:
        """Return the verdict of a rule at the limit, and a note that names the limits."""
        found, note = rule(self.least), f"gate {self.least:.4g}"
        if self.earlier is not None:
            note += f", {self.earlier:g} before results were seen: {rule(self.earlier)} by that"
        return found, note


@dataclass(frozen=True)
class LearnedScores:
    """Scores of the models that a trend compares, and the gate that each group must pass."""

    gate: Gate
    scores: tuple[Sequence[float], ...]

    def judge(self, found: Verdict) -> tuple[Verdict, str]:
        """Return a verdict, or "not decided" if a group has learned too little, and a note."""
        judged, note = self.gate.judge(lambda least: if_learned(found, least, *self.scores))
        if judged != found:
            least = f"{self.gate.least:.4g}"
            note += f": not decided, because a model that is compared has less than {least}"
        return judged, note


def interval_text(
    values: Sequence[float],
    digits: int = 2,
    sign: bool = False,
    *,
    spread: float = 0.0,
    least: float = -math.inf,
    most: float = math.inf,
) -> str:
    """Write mean and interval: ``1.32 (1.10 to 1.54)``. A single value has no interval.

    Args:
        values: One for each seed.
        digits: After the point.
        sign: Whether positive numbers have one.
        spread: See `t_interval`.
        least: The interval ends there, because no value can be smaller.
        most: The same for larger values.
    """
    mean, low, high = t_interval(values, spread)
    form = f"{{:{'+' if sign else ''}.{digits}f}}".format
    if len(values) < 2:
        return form(mean)
    return f"{form(mean)} ({form(max(low, least))} to {form(min(high, most))})"


def percent_text(values: Sequence[float], digits: int = 2) -> str:
    """Write mean and interval of BLEU, F1 or shares in percent."""
    return interval_text(values, digits, least=0, most=100)


def perplexity_text(values: Sequence[float], digits: int = 2) -> str:
    """Write mean and interval of perplexities."""
    return interval_text(values, digits, least=1)


def t_interval(values: Sequence[float], spread: float = 0.0) -> tuple[float, float, float]:
    """Return the mean and its 95 % interval by Student's t; one value has an infinite interval.

    Args:
        values: One for each seed.
        spread: The least standard deviation of single values. Scores that count few sentences may be equal with
            every seed by chance, which does not make them certain.
    """
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, -math.inf, math.inf
    half = t_quantile(len(values) - 1) * _error(values, spread)
    return mean, mean - half, mean + half


def p_value(differences: Sequence[float], spread: float = 0.0) -> float:
    """Return the probability of a mean so far from zero, or farther, if there were no trend: Student's t, two-sided."""
    count = len(differences)
    if count < 2:
        return 1.0
    mean, error = float(np.mean(differences)), _error(differences, spread)
    if not error:
        return 0.0 if mean else 1.0
    return 2 * (1 - _t_below(abs(mean) / error, count - 1))


def _error(values: Sequence[float], spread: float) -> float:
    """Return the standard error of the mean."""
    return max(float(np.std(values, ddof=1)), spread) / math.sqrt(len(values))


def count_surviving(values: Sequence[float], level: float = 0.05) -> int:
    """Return how many of several trends are decided if all are judged together (Holm, 1979).

    Args:
        values: The p of each.
        level: The probability that any of them is decided by chance, at most.
    """
    ordered = sorted(values)
    failing = (i for i, p in enumerate(ordered) if p > level / (len(ordered) - i))
    return next(failing, len(ordered))


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
