"""Whether a model can read a text at all."""

from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import EOS, is_language
from headway.text.words import is_byte


def is_readable(text: str, tokenizer: Tokenizer) -> bool:
    """Return whether a text has a letter of the vocabulary, or no letter; a text in another script has none.

    Args:
        text: Any text.
        tokenizer: Of the model.
    """
    if not any(map(str.isalpha, text)):
        return True
    [ids] = tokenizer.encode_source([text])
    subwords = tokenizer.source_subwords([i for i in ids if i not in (EOS, tokenizer.unk)])
    read = (each for each in subwords if not (is_byte(each) or is_language(each)))
    return any(character.isalpha() for each in read for character in each)
