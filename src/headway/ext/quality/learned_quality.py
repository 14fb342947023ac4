"""What a run learns at its end about the quality of its model's translations."""

from collections.abc import Iterator

import numpy as np
import torch

from headway.config import Config
from headway.ext.quality.calibration import examine_lines, fit_quality
from headway.ext.quality.evidence import FEATURES
from headway.ext.quality.quality_model import FILE as FILE
from headway.text import PreparedData
from headway.training import Event, Notice, ProgressReport, RunDirectory, list_texts, parallel
from headway.translation import Translator, read_config

FROM_SETTINGS = False
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
    together = BATCH * parallel.world_size()
    for languages, sources, references in texts:
        own = translator.to(languages[1], languages[0])
        for start in range(0, len(sources), together):
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
    if np.isnan(rows[:, 0]).all():
        yield Notice(
            text=f"no {FILE}: each line of the validation text is translated in several parts"
        )
    elif parallel.rank() == 0:
        model = fit_quality(rows)
        for path in directory.list_installed():
            model.save(path)
