"""Exponents from measurements: straight lines through logarithms, and sums fitted as sums."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Values = Sequence[float]


def exponents(amounts: Values, sizes: Mapping[str, Values]) -> dict[str, float]:
    """Fit amount = c * size_1^e_1 * size_2^e_2 ... by least squares of logarithms.

    Args:
        amounts: Positive, one a measurement.
        sizes: By name; what never changes is left out of the fit.

    Returns:
        The exponent of each size that changes.
    """
    names = [name for name, values in sizes.items() if len(set(values)) > 1]
    columns = [np.log(np.asarray(sizes[name], float)) for name in names]
    matrix = np.stack([np.ones(len(amounts)), *columns], 1)
    solution = np.linalg.lstsq(matrix, np.log(np.asarray(amounts, float)), rcond=None)[0]
    return dict(zip(names, solution[1:].tolist(), strict=True))


@dataclass(frozen=True)
class Sum:
    """A sum of known terms with fitted coefficients.

    Attributes:
        coefficients: Of each term, 0 or more.
        error: Largest relative deviation of a measurement from the sum.
        exponent: Of the measurements over the fitted sum: 1 where the sum is right.
    """

    coefficients: tuple[float, ...]
    error: float
    exponent: float


def fit_sum(amounts: Values, terms: Sequence[Values]) -> Sum:
    """Fit amount = a_1 term_1 + a_2 term_2 ..., by least squares of relative deviations.

    Args:
        amounts: Positive, one a measurement.
        terms: The value of each term at each measurement.
    """
    y = np.asarray(amounts, float)
    columns = [np.asarray(term, float) / y for term in terms]
    # Amounts are not negative: the best fit with all terms, or with the best part of them.
    best: tuple[float, np.ndarray] | None = None
    for chosen in range(1, 1 << len(columns)):
        part = [i for i in range(len(columns)) if chosen >> i & 1]
        matrix = np.stack([columns[i] for i in part], 1)
        found = np.linalg.lstsq(matrix, np.ones(len(y)), rcond=None)[0]
        rest = float(np.square(matrix @ found - 1).sum())
        if (found < 0).any() or (best is not None and rest >= best[0] * (1 - 1e-9) - 1e-18):
            continue
        whole = np.zeros(len(columns))
        whole[part] = found
        best = rest, whole
    assert best is not None
    predicted = sum(a * np.asarray(term, float) for a, term in zip(best[1], terms, strict=True))
    error = float(np.abs(predicted / y - 1).max())
    slope = exponents(amounts, {"sum": list(predicted)}).get("sum", 1.0)
    return Sum(tuple(best[1].tolist()), error, slope)


def crossing(sizes: Values, first: Values, second: Values) -> float | None:
    """Return the size from which on the first is larger, between two sizes by their logarithms.

    None: they do not cross, or cross more than once.
    """
    gap = np.log(np.asarray(first, float)) - np.log(np.asarray(second, float))
    above = gap > 0
    if above[0] or not above[-1] or np.count_nonzero(np.diff(above)) != 1:
        return None
    right = int(above.argmax())
    if gap[right - 1] == 0:
        return float(sizes[right - 1])
    x = np.log(np.asarray(sizes[right - 1 : right + 1], float))
    share = -gap[right - 1] / (gap[right] - gap[right - 1])
    return float(np.exp(x[0] + share * (x[1] - x[0])))
