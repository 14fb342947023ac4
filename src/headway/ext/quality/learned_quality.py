"""Learn from a text with references how good a model's translations are, as a run does at its end."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from headway.config import Config
from headway.evaluation import chrf_by_line
from headway.ext.quality.quality_model import FEATURES, QualityModel, examine
from headway.ext.quality.quality_model import FILE as FILE
from headway.text import PreparedData
from headway.training import Event, Notice, ProgressReport, RunDirectory, list_texts, parallel
from headway.translation import Job, Pipeline, Translator, read_config, run, together

MAX_SENTENCES = 1000  # of the validation text
BATCH = 64


def wants(config: Config) -> bool:
    """Return whether a run calibrates the quality at its end."""
    return config.model.kind == "translator"


def learn(directory: RunDirectory, data: PreparedData, device: str) -> Iterator[Event]:
    """Calibrate the quality of the installed model's translations on the validation text.

    The ranks take turns with the batches, and all of them yield the same events; the first writes the result.

    Yields:
        Progress, before each batch of sentences; a notice if no line of the validation text counts.
    """
    parallel.wait_for_first()  # it has written the model
    is_for_cpu = read_config(directory.path).config.search.precision == "int8"
    translator = Translator.load(directory.path, "cpu" if is_for_cpu else device)
    texts = [*list_texts(data, MAX_SENTENCES // len(data.groups))]
    whole, done = sum(len(text.sources) for text in texts), 0
    rows = np.zeros((whole, 1 + len(FEATURES)))
    step = BATCH * parallel.world_size()
    for languages, sources, references in texts:
        own = translator.to(languages[1], languages[0])
        for start in range(0, len(sources), step):
            # The ranks meet here, so that each translates a batch between two meetings.
            yield ProgressReport(
                doing="learning how good translations are", done=done + start, of=whole
            )
            first = start + BATCH * parallel.rank()
            batch = slice(first, first + BATCH)
            found = examine_lines(own, sources[batch], references[batch])
            rows[done + first : done + first + len(found)] = found
        done += len(sources)
    rows = parallel.sum_disjoint(torch.from_numpy(rows)).numpy()
    if np.isnan(rows).all():
        yield Notice(
            text=f"no {FILE}: each line of the validation text is translated in several parts"
        )
    elif parallel.rank() == 0:
        model = QualityModel.fit(rows)
        for path in directory.list_installed():
            model.save(path)


def examine_lines(
    translator: Translator, sources: Sequence[str], references: Sequence[str]
) -> NDArray[np.float64]:
    """Translate a batch of lines, and return for each the chrF2 of its translation / 100 and the features.

    A line of several pieces, or a blank one, has NaN.

    Args:
        translator: The model.
        sources: Raw text.
        references: The translations of people, as many.

    Returns:
        [lines, 1 + features].
    """
    search = replace(translator.default_search, sample=False, n_best=1, split_sentences=False)
    pipeline = translator.pipeline(search)
    pairs = zip(sources, references, strict=True)
    rows = run(together(_examine(pipeline, *pair) for pair in pairs))
    return np.reshape(rows, (-1, 1 + len(FEATURES)))


def _examine(pipeline: Pipeline, source: str, reference: str) -> Job[list[float]]:
    pieces = pipeline.cut(source)
    if len(pieces) != 1:
        return [np.nan] * (1 + len(FEATURES))
    found = yield from pipeline.find(pieces[0])
    best, search = found.hypotheses[0], pipeline.search
    [features] = yield [examine(pipeline.forward, pieces[0], best, search)]
    [translation] = pipeline.join(pieces, [found])
    return [chrf_by_line([translation.text], [reference])[0] / 100, *features]
