"""Exponents from measurements: straight lines through logarithms, and sums fitted as sums."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

Values = Sequence[float]


def fit_exponents(amounts: Values, sizes: Mapping[str, Values]) -> dict[str, float]:
    """Fit amount = c * size_1^e_1 * size_2^e_2 ... by least squares of logarithms.

    Args:
        amounts: Positive, one for each measurement.
        sizes: By name; a size that never changes is left out of the fit.

    Returns:
        The exponent of each size that changes.
    """
    names = [name for name, values in sizes.items() if len(set(values)) > 1]
    columns = [np.log(np.asarray(sizes[name], float)) for name in names]
    matrix = np.stack([np.ones(len(amounts)), *columns], 1)
    solution = np.linalg.lstsq(matrix, np.log(np.asarray(amounts, float)), rcond=None)[0]
    return dict(zip(names, solution[1:].tolist(), strict=True))


class FittedSum(NamedTuple):
    """A sum of known terms with fitted coefficients.

    Attributes:
        coefficients: One for each term.
        error: The largest relative deviation of an amount from the sum.
    """

    coefficients: tuple[float, ...]
    error: float


def fit_sum(amounts: Values, terms: Sequence[Values]) -> FittedSum:
    """Fit amount = a_1 term_1 + a_2 term_2 ..., by least squares of relative deviations.

    Args:
        amounts: Positive, one for each measurement.
        terms: The value of each term at each measurement.
    """
    matrix = np.asarray(terms, float).T / np.asarray(amounts, float)[:, None]
    coefficients = np.linalg.lstsq(matrix, np.ones(len(amounts)), rcond=None)[0]
    return FittedSum(tuple(coefficients.tolist()), float(np.abs(matrix @ coefficients - 1).max()))


def find_crossing(sizes: Values, first: Values, second: Values) -> float | None:
    """Return the size from which on the first curve is larger, interpolated by logarithms.

    Returns:
        None if the curves do not cross, or cross more than once.
    """
    gap = np.log(np.asarray(first, float)) - np.log(np.asarray(second, float))
    above = gap > 0
    if above[0] or not above[-1] or np.count_nonzero(np.diff(above)) != 1:
        return None
    right = int(above.argmax())
    x = np.log(np.asarray(sizes[right - 1 : right + 1], float))
    share = -gap[right - 1] / (gap[right] - gap[right - 1])
    return float(np.exp(x[0] + share * (x[1] - x[0])))
