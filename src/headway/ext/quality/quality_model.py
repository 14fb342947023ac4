"""How good a translation probably is: a number from 0 to 1, calibrated on the validation text.

The quality is the chrF2 against a reference, divided by 100, that a translation with these features is expected
to have: sigmoid(bias + weights · features). No weight is negative, so a better feature never lowers it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway import __version__
from headway.errors import HeadwayError
from headway.ext.quality.defects import Defect
from headway.ext.quality.evidence import FEATURES, Features
from headway.files import check_writer, read_small_file, replace_text

FILE = "quality.json"
FORMAT = 1
MAX_BYTES = 1 << 16
LARGEST = 1e6  # of a weight
RIDGE = 1.0  # weight of the prior, in sentences: all weights are 0
ROUNDS = 500  # of coordinate descent
STEEPEST = 0.25  # the largest slope of the sigmoid
FOLDS = 5  # of cross-validation

Vector = NDArray[np.float64]


class RatedPiece(NamedTuple):
    """How good the translation of a piece is.

    Attributes:
        quality: From 0 to 1.
        defects: What looks broken in it.
        repaired: What looked broken in the first translation, which this one replaces.
    """

    quality: float
    defects: tuple[Defect, ...] = ()
    repaired: tuple[Defect, ...] = ()


@dataclass(frozen=True)
class QualityModel:
    """Turns the features of a translation into its quality.

    Attributes:
        bias: Added to the weighted features.
        weights: For each name in `FEATURES`, 0 or more.
        sentences: How many it was fitted to.
        spearman: Rank correlation with chrF2 by sentence, by cross-validation on these sentences.
    """

    bias: float
    weights: Mapping[str, float]
    sentences: int = 0
    spearman: float = 0.0

    def rate(self, features: Features) -> float:
        """Return the quality of a translation with these features, from 0 to 1."""
        total = self.bias + float(features @ np.array([self.weights[name] for name in FEATURES]))
        return float(_sigmoid(np.array(total)))

    @classmethod
    def fit(cls, features: NDArray[np.float64], scores: Vector) -> "QualityModel":
        """Return the model whose quality is nearest to the scores of translations.

        Args:
            features: [sentences, features].
            scores: From 0 to 1.

        Raises:
            HeadwayError: If there are no sentences.
        """
        if not len(scores):
            raise HeadwayError("no sentences to learn the quality of translations from")
        bias, weights = _fit(features, scores)
        predicted = np.empty(len(scores))
        folds = np.arange(len(scores)) % FOLDS
        for fold in range(min(FOLDS, len(scores))):
            rest = folds != fold if len(scores) > 1 else folds == fold
            fold_bias, fold_weights = _fit(features[rest], scores[rest])
            predicted[folds == fold] = fold_bias + features[folds == fold] @ fold_weights
        return cls(
            bias,
            dict(zip(FEATURES, weights.tolist(), strict=True)),
            len(scores),
            rank_correlation(predicted, scores),
        )

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
            try:
                return cls._parse(values)
            except ValueError as error:
                raise HeadwayError(f"{file}: damaged: {error}") from None

    @classmethod
    def _parse(cls, values: dict[str, Any]) -> "QualityModel":
        weights = values.get("weights")
        if not isinstance(weights, dict) or weights.keys() != FEATURES.keys():
            raise ValueError(f"weights must have the names {', '.join(FEATURES)}")
        for name, weight in weights.items():
            if not _is_number(weight) or not 0 <= weight <= LARGEST:
                raise ValueError(f"the weight of {name} must be from 0 to {LARGEST:g}")
        if not _is_number(values.get("bias")) or abs(values["bias"]) > LARGEST * len(FEATURES):
            raise ValueError("bias must be a number")
        numbers = [values.get(name, 0) for name in ("sentences", "spearman")]
        if not all(map(_is_number, numbers)):
            raise ValueError("sentences and spearman must be numbers")
        return cls(values["bias"], weights, *numbers)


def rank_correlation(a: Vector, b: Vector) -> float:
    """Return Spearman's rank correlation; 0 if all of one side are equal."""
    first, second = _ranks(a), _ranks(b)
    if first.std() == 0 or second.std() == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _ranks(values: Vector) -> Vector:
    """Return the rank of each value from 1 on; equal values share the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: Vector = (ends - (counts - 1) / 2)[places]
    return means


def _fit(features: NDArray[np.float64], scores: Vector) -> tuple[float, Vector]:
    """Return the bias and the weights of a logistic regression without negative weights.

    Each round takes a step along one feature after the other, as long as it is where the sigmoid is steepest, so that
    none goes too far: steps of Newton's method do where nearly all scores are 1.
    """
    mean, spread = features.mean(0), features.std(0)
    spread = np.where(spread > 1e-9, spread, np.inf)  # a constant feature gets weight 0
    standard = (features - mean) / spread
    center = scores.mean().clip(0.01, 0.99)
    bias, weights = float(np.log(center / (1 - center))), np.zeros(len(mean))
    for _ in range(ROUNDS):
        before = bias, *weights
        for column in range(len(weights)):
            predicted = _sigmoid(bias + standard @ weights)
            slope = standard[:, column] @ (predicted - scores) + RIDGE * weights[column]
            curve = STEEPEST * (standard[:, column] ** 2).sum() + RIDGE
            weights[column] = max(0.0, weights[column] - slope / curve)
        predicted = _sigmoid(bias + standard @ weights)
        slope = (predicted - scores).sum()
        bias = float(np.clip(bias - slope / (STEEPEST * len(scores)), -10, 10))
        if (bias, *weights) == before:  # later rounds would change nothing either
            break
    weights = weights / spread
    return bias - float(mean @ weights), weights


def _sigmoid(x: Vector) -> Vector:
    return 1 / (1 + np.exp(-x.clip(-500, 500)))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)


def list_facts(directory: Path) -> dict[str, object]:
    """Return how well the quality of translations agreed with chrF when a model was calibrated; nothing if it was not."""
    if not (directory / FILE).is_file():
        return {"quality": {}}
    model = QualityModel.load(directory)
    quality = {"spearman": round(model.spearman, 3), "sentences": model.sentences}
    return {"quality": quality}
