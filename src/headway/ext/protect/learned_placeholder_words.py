"""The phrases that a run learns at its end, which its model reads in the place of placeholders."""

from collections.abc import Iterator

from headway.config import Config
from headway.ext.protect.placeholder_word_file import FILE as FILE
from headway.ext.protect.placeholder_word_file import (
    learn_placeholder_words,
    save_placeholder_words,
)
from headway.text import PreparedData, name_pair
from headway.training import Event, RunDirectory, parallel

FROM_SETTINGS = False
MAX_PAIRS = 20_000  # of the training text; a thousand take a third of a second


def wants(config: Config) -> bool:
    """Return whether a run looks for phrases at its end."""
    return config.model.kind == "translator"


def learn(directory: RunDirectory, data: PreparedData, device: str) -> Iterator[Event]:
    """Find phrases in the training text of each pair of languages; only the first rank does it."""
    if parallel.rank() == 0:
        _learn(directory, data)
    yield from ()


def _learn(directory: RunDirectory, data: PreparedData) -> None:
    found = {
        name_pair(languages): learn_placeholder_words(*zip(*pairs, strict=True))
        for languages, pairs in data.sample(MAX_PAIRS)
    }
    for path in directory.list_installed():
        save_placeholder_words(path, found)
