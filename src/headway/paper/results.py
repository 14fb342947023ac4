"""What an experiment found, as plain values: tables, figures, claims, and how sure one may be."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from headway.errors import HeadwayError

FORMAT = 1
Cell = str | float | int | None
VERDICTS = ("holds", "does not", "not decided", "shown")


@dataclass(frozen=True)
class Table:
    """A table; None is an empty cell.

    Attributes:
        title: With the unit where all cells have one.
        columns: Their headings.
        rows: As many cells each as there are columns.
        note: What a reader must know beside it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: {len(row)} cells for {len(self.columns)} columns")


@dataclass(frozen=True)
class Figure:
    """A picture as an SVG document; equal data give equal bytes, and no matplotlib an empty text."""

    caption: str
    svg: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and whether it came true here.

    Attributes:
        text: What the paper says, in our words.
        paper: Its number.
        ours: Our number, with its interval.
        verdict: "holds", "does not" or "not decided" by measured differences; "shown" where it is
            an identity or a count, which no interval belongs to.
        why: How the verdict came about.
        section: Of the paper.
    """

    text: str
    paper: str
    ours: str
    verdict: str
    why: str = ""
    section: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.verdict}: a verdict is one of {', '.join(VERDICTS)}")


@dataclass(frozen=True)
class Result:
    """All that an experiment found.

    Attributes:
        name: What `headway reproduce` calls it.
        title: For people.
        section: Of the paper.
        tables: In the order in which they are to be read.
        figures: Alike.
        claims: Alike.
        differs: What differs from the paper, honestly.
        seconds: That it took.
        settings: What it ran with.
    """

    name: str
    title: str
    section: str
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()
    differs: str = ""
    seconds: float = 0.0
    settings: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the result as text; numbers that are not finite become null."""
        values = _finite({"format": FORMAT, **asdict(self)})
        return json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Result":
        """Read what `to_json` returned.

        Raises:
            HeadwayError: If it is something else.
        """
        try:
            values = json.loads(text)
            if values.pop("format") != FORMAT:
                raise HeadwayError("a result of another format")
            tables = [
                Table(
                    table["title"],
                    tuple(table["columns"]),
                    tuple(tuple(row) for row in table["rows"]),
                    table["note"],
                )
                for table in values.pop("tables")
            ]
            figures = [Figure(**figure) for figure in values.pop("figures")]
            claims = [Claim(**claim) for claim in values.pop("claims")]
            return cls(tables=tuple(tables), figures=tuple(figures), claims=tuple(claims), **values)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise HeadwayError(f"not a result of an experiment ({error})") from None


def t_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return mean and 95 % interval of the mean, by Student's t; of one value it is infinite."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, -math.inf, math.inf
    half = t_quantile(len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def verdict(differences: Sequence[float], expected_sign: int) -> str:
    """Judge a trend by paired differences, one a seed.

    Args:
        differences: Such as BLEU of a variant less BLEU of the base with the same seed.
        expected_sign: 1 if the paper's difference is positive, -1 if it is negative.

    Returns:
        "holds" only where the 95 % interval of the mean excludes zero on the right side, "does not"
        where it does on the other, else "not decided".
    """
    _, low, high = t_interval([difference * expected_sign for difference in differences])
    return "holds" if low > 0 else "does not" if high < 0 else "not decided"


def verdict_equal(differences: Sequence[float], margin: float) -> str:
    """Judge a claim of no difference: it holds where the whole interval is within the margin.

    Returns:
        "holds"; "does not" where the interval lies outside on one side; else "not decided".
    """
    _, low, high = t_interval(differences)
    if -margin < low and high < margin:
        return "holds"
    return "does not" if low > margin or high < -margin else "not decided"


def say(values: Sequence[float], digits: int = 2, sign: bool = False) -> str:
    """Write mean and interval: ``1.32 (1.10 to 1.54)``; a single value stands alone."""
    mean, low, high = t_interval(values)
    form = f"{{:{'+' if sign else ''}.{digits}f}}".format
    return form(mean) if len(values) < 2 else f"{form(mean)} ({form(low)} to {form(high)})"


def t_quantile(degrees: int, probability: float = 0.975) -> float:
    """Return the quantile of Student's t distribution, by bisection of its distribution."""
    low, high = 0.0, 1e3
    while high - low > 1e-9 * max(1.0, low):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_below(middle, degrees) < probability else (low, middle)
    return (low + high) / 2


def _t_below(t: float, degrees: int) -> float:
    """P(T < t) for t >= 0: the density's integral over the angle whose tangent is t / sqrt(n)."""
    angles = np.linspace(0.0, math.atan(t / math.sqrt(degrees)), 2001)
    heights = np.cos(angles) ** (degrees - 1)
    step = angles[1] / 3  # Simpson's rule
    area = step * (heights[0] + heights[-1] + 4 * heights[1::2].sum() + 2 * heights[2:-1:2].sum())
    scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    return 0.5 + float(area) * math.exp(scale) / math.sqrt(math.pi)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, np.generic):
        return _finite(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
