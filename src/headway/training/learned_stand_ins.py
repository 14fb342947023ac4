"""The phrases that a run learns at its end, which its model reads in the place of placeholders."""

from headway.inference.stand_in_file import save_phrases
from headway.text.language_pairs import name_pair
from headway.text.prepared import PreparedData
from headway.text.steady_phrases import find_steady_phrases
from headway.training import parallel
from headway.training.run_directory import RunDirectory
from headway.training.validation import list_texts

MAX_SENTENCES = (
    10_000  # of the validation text of a pair of languages; a thousand take a quarter of a second
)


def write_stand_ins(directory: RunDirectory, data: PreparedData) -> None:
    """Find phrases in the validation text, for each pair of languages; only the first rank does it."""
    if parallel.rank():
        return
    found = {
        name_pair(text.languages): find_steady_phrases(text.sources, text.references)
        for text in list_texts(data, MAX_SENTENCES)
    }
    for path in directory.list_last_models():
        save_phrases(path, found)
