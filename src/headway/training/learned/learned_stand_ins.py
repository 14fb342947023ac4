"""The phrases that a run learns at its end, which its model reads in the place of placeholders."""

from headway.text.language_pairs import name_pair
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.storage.run_directory import RunDirectory
from headway.translation.segments.stand_in_file import learn_stand_ins, save_stand_ins

MAX_PAIRS = 20_000  # of the training text; a thousand take a third of a second


def write_stand_ins(directory: RunDirectory, data: PreparedData) -> None:
    """Find phrases in the training text of each pair of languages; only the first rank does it."""
    if parallel.rank():
        return
    found = {
        name_pair(languages): learn_stand_ins(*zip(*pairs, strict=True))
        for languages, pairs in data.sample(MAX_PAIRS)
    }
    for path in directory.list_installed():
        save_stand_ins(path, found)
