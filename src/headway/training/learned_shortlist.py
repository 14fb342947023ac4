"""The shortlist that a run learns at its end, if its settings ask for one."""

import numpy as np

from headway.config import Config
from headway.inference.directory import load_model
from headway.inference.shortlist import learn_shortlist
from headway.text.prepared import PreparedData
from headway.training import ranks
from headway.training.run_directory import RunDirectory

MAX_PAIRS = 100_000  # that a shortlist is learned from


def wants_shortlist(config: Config) -> bool:
    """Return whether this process should write a shortlist at the end of a run; one rank does."""
    is_wanted = config.search.shortlist > 0 and config.model.kind == "translator"
    return is_wanted and ranks.rank() == 0


def write_shortlist(directory: RunDirectory, data: PreparedData) -> None:
    """Learn a shortlist from pairs spread over the training text, with the installed model."""
    corpus = data.train
    rows = np.linspace(0, len(corpus) - 1, min(len(corpus), MAX_PAIRS)).astype(int)
    model = load_model(directory.path).transformer
    pairs = (corpus.pair(row) for row in rows.tolist())
    shortlist = learn_shortlist(
        model, ((source.tolist(), target.tolist()) for source, target in pairs)
    )
    for path in (directory.path, directory.averaged):
        if path.is_dir():
            shortlist.save(path)
