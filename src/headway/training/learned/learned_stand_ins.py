"""The phrases that a run learns at its end, which its model reads in the place of placeholders."""

from headway.inference.segments.stand_in_file import Learned, learn_stand_ins, save_stand_ins
from headway.text.language_pairs import name_pair
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.storage.run_directory import RunDirectory

MAX_PAIRS = 20_000  # of the training text; a thousand take a third of a second


def write_stand_ins(directory: RunDirectory, data: PreparedData) -> None:
    """Find phrases in the training text of each pair of languages; only the first rank does it."""
    if parallel.rank():
        return
    found: dict[str, Learned] = {}
    first = 0
    for group in data.groups:
        count = min(group.training_pairs, MAX_PAIRS // len(data.groups))
        chosen = [first + number * group.training_pairs // count for number in range(count)]
        first += group.training_pairs
        pairs = [data.train.pair(row) for row in chosen]
        found[name_pair(group.languages)] = learn_stand_ins(
            [data.tokenizer.decode_source(ids.tolist()) for ids, _ in pairs],
            [data.tokenizer.decode(ids.tolist()) for _, ids in pairs],
        )
    for path in directory.list_last_models():
        save_stand_ins(path, found)
