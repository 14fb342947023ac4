"""The shortlist that a run learns at its end, if its settings ask for one."""

from collections.abc import Generator

import numpy as np

from headway.config import Config
from headway.ext.native.shortlist import FILE as FILE
from headway.ext.native.shortlist import ShortlistLearner
from headway.text import PreparedData
from headway.training import ProgressReport, RunDirectory, parallel
from headway.translation import load_model

MAX_PAIRS = 100_000  # that a shortlist is learned from
MAX_TOKENS = 1_000_000  # target tokens, likewise
BATCH = 64


def wants(config: Config) -> bool:
    """Return whether a run writes a shortlist at its end."""
    return config.search.shortlist > 0 and config.model.kind == "translator"


def learn(directory: RunDirectory, data: PreparedData, device: str) -> Generator[ProgressReport]:
    """Learn a shortlist from pairs spread over the training text, with the installed model.

    All ranks learn the same one, because all of them yield the same events; the first writes it.

    Yields:
        Progress, before each batch of pairs.
    """
    parallel.wait_for_first()  # it has written the model
    corpus = data.train
    rows = np.linspace(0, len(corpus) - 1, min(len(corpus), MAX_PAIRS)).astype(int).tolist()
    learner = ShortlistLearner(load_model(directory.path).transformer)
    for done in range(0, len(rows), BATCH):
        if learner.frequency.sum() >= MAX_TOKENS:
            break
        yield ProgressReport(doing="learning a shortlist", done=done, of=len(rows))
        pairs = [corpus.pair(row) for row in rows[done : done + BATCH]]
        learner.add([(source.tolist(), target.tolist()) for source, target in pairs])
    if parallel.rank():
        return
    shortlist = learner.shortlist()
    for path in directory.list_installed():
        shortlist.save(path)
