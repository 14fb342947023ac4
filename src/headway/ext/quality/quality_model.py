"""How good a translation probably is: a number from 0 to 1, calibrated on the validation text.

The quality is the chrF2 against a reference, divided by 100, that a translation with these features is expected
to have: sigmoid(bias + weights · features). No weight is negative, so a better feature never lowers it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway import __version__
from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.files import check_writer, read_small_file, replace_text
from headway.translation import GivenTarget, Hypothesis, Piece, Read, TokenSearch

FILE = "quality.json"
FORMAT = 2
MAX_BYTES = 1 << 16
LARGEST = 1e6  # of the numbers in the file
# The mean probability of the target tokens, and how far the ratio of target to source tokens is from 1: -|ln(T / S)|. Each
# is higher for a better translation.
FEATURES = ("probability", "length")
# Format 1 has weights of six more features; these are their usual values.
USUAL = {
    "weakest": -2.4,
    "coverage": 0.7,
    "focus": 0.4,
    "distinct": 1,
    "translated": 1,
    "numbers": 1,
}
RIDGE = 0.01  # weight of the prior: all weights are 0
ROUNDS = 500  # of the fit
STEEPEST = 0.25  # the largest slope of the sigmoid

Numbers = NDArray[np.float64]


def examine(
    token_search: TokenSearch,
    piece: Piece,
    hypothesis: Hypothesis,
    search: SearchConfig,
) -> Read:
    """Return the request for the features of a translation. With native code they depend on no other one, bit by bit.

    Args:
        token_search: Of the model.
        piece: The text.
        hypothesis: Its translation.
        search: Gives the precision.
    """
    source, target = (piece.masked_source or piece).ids, hypothesis.tokens

    def measure(given: GivenTarget) -> Numbers:
        distance = abs(np.log(len(target) / len(source)))
        return np.array([np.exp(given.log_p).mean(), -distance])

    return Read(token_search, search, source, target, measure)


@dataclass(frozen=True)
class QualityModel:
    """Turns the features of a translation into its quality.

    Attributes:
        bias: Added to the weighted features.
        weights: For each name in `FEATURES`, 0 or more.
        sentences: How many it was fitted to.
        spearman: Rank correlation with chrF2 by sentence, on these sentences.
    """

    bias: float
    weights: Mapping[str, float]
    sentences: int = 0
    spearman: float = 0.0

    def rate(self, features: Numbers) -> float:
        """Return the quality of a translation with these features, from 0 to 1."""
        weights = [self.weights[name] for name in FEATURES]
        return float(_sigmoid(self.bias + features @ weights))

    @classmethod
    def fit(cls, rows: Numbers) -> "QualityModel":
        """Fit a logistic regression that predicts the scores of translations, and return it.

        Args:
            rows: [sentences, 1 + features]: the score from 0 to 1, and the features; a row with NaN does not count.

        Raises:
            HeadwayError: If no row counts.
        """
        scores, features = np.split(rows[~np.isnan(rows).any(1)], [1], axis=1)
        if not len(scores):
            raise HeadwayError("no sentences to learn the quality of translations from")
        bias, *weights = _fit(features, scores[:, 0]).tolist()
        spearman = rank_correlation(features @ weights, scores[:, 0])
        return cls(bias, dict(zip(FEATURES, weights, strict=True)), len(scores), spearman)

    def save(self, directory: Path) -> None:
        """Write ``quality.json``."""
        values = {"format": FORMAT, "headway": __version__, **asdict(self)}
        replace_text(directory / FILE, json.dumps(values, indent=2) + "\n")

    @classmethod
    def load(cls, directory: Path) -> "QualityModel":
        """Read ``quality.json``.

        Raises:
            OtherVersionError: If another Headway wrote the file, and this one does not understand it.
            HeadwayError: If there is none, or it is damaged.
        """
        file = directory / FILE
        if not file.is_file():
            raise HeadwayError(
                f"{directory}: no {FILE}, which a training writes at its end: headway evaluate {directory}"
                " --source valid.en --reference valid.de --calibrate makes one"
            )
        values = read_small_file(file, FORMAT, MAX_BYTES)
        with check_writer(file, values):
            return cls._parse(values)

    @classmethod
    def _parse(cls, values: dict[str, Any]) -> "QualityModel":
        weights = values.get("weights")
        bias, *counts = (values.get(name, 0) for name in ("bias", "sentences", "spearman"))
        if not isinstance(weights, dict) or not weights.keys() >= {*FEATURES}:
            raise ValueError(f"weights must have the names {', '.join(FEATURES)}")
        is_right = all(map(_is_number, (bias, *counts, *weights.values())))
        if not is_right or min(weights.values()) < 0:
            raise ValueError("bias, sentences and spearman must be numbers, and weights from 0 on")
        bias += sum(usual * weights.get(name, 0) for name, usual in USUAL.items())
        return cls(bias, {name: weights[name] for name in FEATURES}, *counts)


def _fit(features: Numbers, scores: Numbers) -> Numbers:
    """Return the bias and the weights of a logistic regression without negative weights.

    Each step is one of Newton's method where the sigmoid is steepest, so that none goes too far: others do where nearly all
    scores are 1.
    """
    columns = np.column_stack([np.ones(len(scores)), features])
    curve = STEEPEST * columns.T @ columns + RIDGE * np.eye(columns.shape[1])
    found = np.zeros(columns.shape[1])
    for _ in range(ROUNDS):
        slope = columns.T @ (_sigmoid(columns @ found) - scores) + RIDGE * found
        found = found - np.linalg.solve(curve, slope)
    is_better = found[1:] >= 0
    return found if is_better.all() else _fit(features * is_better, scores)


def rank_correlation(a: Numbers, b: Numbers) -> float:
    """Return Spearman's rank correlation; 0 if all of one side are equal. Equal values share the mean of their ranks."""
    ranks = [
        np.searchsorted(np.sort(x), x, "left") + np.searchsorted(np.sort(x), x, "right")
        for x in (a, b)
    ]
    return float(np.corrcoef(ranks)[0, 1]) if all(map(np.ptp, ranks)) else 0.0


def _sigmoid(x: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-x.clip(-30, 30)))  # less than 1, so that a defect gives less than 0.5


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and value is not True and abs(value) <= LARGEST


def list_facts(directory: Path) -> dict[str, object]:
    """Return how well the quality of translations agreed with chrF when a model was calibrated; nothing if it was not."""
    if not (directory / FILE).is_file():
        return {"quality": {}}
    model = QualityModel.load(directory)
    quality = {"spearman": round(model.spearman, 3), "sentences": model.sentences}
    return {"quality": quality}
