"""Whether a model translates the sentences of a line one by one, by the lines that it is trained on."""

from dataclasses import replace

from headway.config import Config
from headway.text.prepared import PreparedData
from headway.translation.splitting import split_sentences

MAX_LINES = 20_000  # of the training text; a thousand take a hundredth of a second
# A model that has hardly seen lines of several sentences ends a translation with its first sentence. Lists of single
# sentences have hardly any such lines: Multi30k none, and the built-in corpus 0.4 %, which includes mistakes of the
# splitter. Text with whole paragraphs in a line has many times more.
FEW = 0.02


def resolve_splitting(settings: Config, data: PreparedData) -> Config:
    """Return settings in which ``search.split_sentences`` is not "auto": the training text decides, before the training.

    So all models of the run have it from the first on, and a resumed run does not decide again.
    """
    if settings.search.split_sentences != "auto":
        return settings
    is_split = data.kind == "translator" and share_of_several(data) < FEW
    return replace(settings, search=replace(settings.search, split_sentences=is_split))


def share_of_several(data: PreparedData) -> float:
    """Return the share of the training sources that have several sentences, by a sample."""
    counts = [
        len(split_sentences(line, language))
        for (language, _), pairs in data.sample(MAX_LINES)
        for line, _ in pairs
    ]
    return sum(count > 1 for count in counts) / len(counts)
