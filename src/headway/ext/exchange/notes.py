"""A note that exports of several formats share."""

from headway.config import SearchConfig


def list_sentence_note(search: SearchConfig) -> list[str]:
    """Return what another program must do for a model that was trained on single sentences; nothing for another model."""
    if search.split_sentences is not True:
        return []
    return [
        "sentences: give it one sentence at a time. The model was trained on single sentences, and may leave out the"
        " others of a text. Headway divides a text itself (search.split_sentences), the other program does not"
    ]
