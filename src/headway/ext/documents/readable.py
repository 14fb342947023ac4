"""Whether a model can read a text at all."""

from unicodedata import normalize

from headway.text import Tokenizer


def is_readable(text: str, tokenizer: Tokenizer) -> bool:
    """Return whether a text has a letter of the vocabulary, or no letter; a text in another script has none.

    Args:
        text: Any text.
        tokenizer: Of the model.
    """
    letters = tokenizer.source_letters
    written = normalize(
        "NFKC", text
    )  # as the vocabulary reads it, which knows no full-width letters
    return any(c in letters for c in written) or not any(map(str.isalpha, written))
