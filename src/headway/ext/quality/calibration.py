"""Learn from a text with references how good a model's translations are."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.evaluation import chrf_by_line
from headway.ext.quality.evidence import Features, examine
from headway.ext.quality.quality_model import QualityModel
from headway.translation import Job, Pipeline, Translator, run, together


class Calibration:
    """Collects translations and their chrF2, and fits a `QualityModel` to them."""

    def __init__(self) -> None:
        self._features: list[Features] = []
        self._scores: list[float] = []

    @property
    def lines(self) -> int:
        """How many lines count so far."""
        return len(self._scores)

    def add(
        self, translator: Translator, sources: Sequence[str], references: Sequence[str]
    ) -> None:
        """Translate a batch of lines; lines of several pieces, and blank ones, do not count.

        Args:
            translator: The model.
            sources: Raw text.
            references: The translations of people, as many.
        """
        search = replace(translator.default_search, sample=False, n_best=1, split_sentences=False)
        pipeline = translator.pipeline(search)
        both = zip(sources, references, strict=True)
        for each in run(together(_examine(pipeline, *pair) for pair in both)):
            if each is not None:
                features, score = each
                self._features.append(features)
                self._scores.append(score)

    def fit(self) -> QualityModel:
        """Fit a model of the quality to the lines so far: it comes as near as it can to their chrF2 / 100.

        Raises:
            HeadwayError: If no line counts.
        """
        return QualityModel.fit(np.array(self._features), np.array(self._scores) / 100)


def _examine(pipeline: Pipeline, source: str, reference: str) -> Job[tuple[Features, float] | None]:
    """Return the features of the translation of a line, and its chrF2; None if the line has several pieces, or none."""
    pieces = yield from pipeline.cut(source)
    if len(pieces) != 1:
        return None
    found = yield from pipeline.find(pieces[0])
    [evidence] = yield from examine(
        pipeline.forward, pieces[0], found.hypotheses[:1], pipeline.search
    )
    [translation] = pipeline.join(pieces, [found])
    [score] = chrf_by_line([translation.text], [reference])
    return evidence.features, score
