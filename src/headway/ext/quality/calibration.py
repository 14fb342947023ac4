"""Learn from a text with references how good a model's translations are."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.evaluation import chrf_by_line
from headway.ext.quality.evidence import FEATURES, Features, examine
from headway.ext.quality.quality_model import QualityModel
from headway.translation import Job, Pipeline, Translator, run, together

Rows = NDArray[
    np.float64
]  # the chrF2 of the translation of each line, and its features, [N, 1 + features]


def examine_lines(
    translator: Translator, sources: Sequence[str], references: Sequence[str]
) -> Rows:
    """Translate a batch of lines, and return their chrF2 and features; NaN for a line of several pieces, or a blank one.

    Args:
        translator: The model.
        sources: Raw text.
        references: The translations of people, as many.
    """
    search = replace(translator.default_search, sample=False, n_best=1, split_sentences=False)
    pipeline = translator.pipeline(search)
    rows = np.full((len(sources), 1 + len(FEATURES)), np.nan)
    jobs = (_examine(pipeline, *pair) for pair in zip(sources, references, strict=True))
    for row, found in zip(rows, run(together(jobs)), strict=True):
        if found is not None:
            score, features = found
            row[:] = [score, *features]
    return rows


def fit_quality(rows: Rows) -> QualityModel:
    """Return the model of the quality that comes as near as it can to chrF2 / 100.

    Raises:
        HeadwayError: If no line counts.
    """
    counted = rows[~np.isnan(rows[:, 0])]
    return QualityModel.fit(counted[:, 1:], counted[:, 0] / 100)


def _examine(pipeline: Pipeline, source: str, reference: str) -> Job[tuple[float, Features] | None]:
    """Return the chrF2 of the translation of a line, and its features; None if the line has several pieces, or none."""
    pieces = yield from pipeline.cut(source)
    if len(pieces) != 1:
        return None
    found = yield from pipeline.find(pieces[0])
    [evidence] = yield from examine(
        pipeline.forward, pieces[0], found.hypotheses[:1], pipeline.search
    )
    [translation] = pipeline.join(pieces, [found])
    [score] = chrf_by_line([translation.text], [reference])
    return score, evidence.features
