"""Learn from a text with references how good a model's translations are."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.evaluation.metrics import chrf_by_line
from headway.inference.quality.evidence import Features, Found, examine
from headway.inference.quality.quality_model import QualityModel
from headway.inference.segments.splitting import Segment
from headway.inference.translator import Translator


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
        """Translate a batch of lines; lines of several segments, and blank ones, do not count.

        Args:
            translator: The model.
            sources: Raw text.
            references: The translations of people, as many.
        """
        search = replace(translator.default_search, sample=False, n_best=1, split_sentences=False)
        segments: list[Segment] = []
        expected: list[str] = []
        for source, reference in zip(sources, references, strict=True):
            split = translator.split(source, search)
            if len(split) == 1:
                segments += split
                expected.append(reference)
        if not segments:
            return
        found = translator.search_batch(segments, search)
        best = [n_best[0] for n_best in found]
        evidence = examine(translator.token_search, [*map(Found, segments, best)], search)
        self._features += [each.features for each in evidence]
        texts = [
            translator.join([segment], [[each]])[0].text
            for segment, each in zip(segments, best, strict=True)
        ]
        self._scores += chrf_by_line(texts, expected)

    def fit(self) -> QualityModel:
        """Fit a model of the quality to the lines so far: it comes as near as it can to their chrF2 / 100.

        Raises:
            HeadwayError: If no line counts.
        """
        return QualityModel.fit(np.array(self._features), np.array(self._scores) / 100)
