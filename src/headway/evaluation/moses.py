"""The tokenized forms of a text on which older papers computed BLEU."""

import re
from collections.abc import Iterable

_COMPOUND = re.compile(r"(\S)-(\S)")


def moses_tokens(lines: Iterable[str], language: str) -> list[str]:
    """Tokenize as Moses' ``tokenizer.perl -l LANGUAGE`` does, with its escapes (``&apos;``).

    Args:
        lines: Raw text.
        language: Two-letter code; a language without rules of its own gets English abbreviations.

    Returns:
        The tokens of each line, joined by single spaces.
    """
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang=language)
    return [tokenizer.tokenize(line, escape=True, return_str=True) for line in lines]


def replace_unicode_punctuation(line: str) -> str:
    """Write Unicode punctuation in ASCII, as Moses' ``replace-unicode-punctuation.perl`` does.

    That script leaves the lower quotation mark of German; the authors' reference has straight quotes
    instead, so it is replaced, too.
    """
    from sacremoses import MosesPunctNormalizer

    for pattern, text in MosesPunctNormalizer.REPLACE_UNICODE_PUNCTUATION:
        line = re.sub(pattern, text, line)
    return line.replace("„", '"')


def split_compounds(line: str) -> str:
    """Split the hyphenated words of a tokenized line, as GNMT, ConvS2S and the paper's authors did before scoring.

    ``Nord-Ost`` becomes ``Nord ##AT##-##AT## Ost``. Splits do not overlap: if a single
    character has a hyphen on both sides, only the first is split, as in the authors' script.
    """
    return _COMPOUND.sub(r"\1 ##AT##-##AT## \2", line)


def lc_norm_tok(lines: Iterable[str], language: str) -> list[str]:
    """Lower-case, normalize punctuation and tokenize, as in Multi30k's ``lc.norm.tok`` files.

    Args:
        lines: Raw text.
        language: Two-letter code, for the rules of quotation marks, numbers and abbreviations.

    Returns:
        The tokens of each line, joined by single spaces.
    """
    from sacremoses import MosesPunctNormalizer

    normalizer = MosesPunctNormalizer(lang=language)
    return moses_tokens((normalizer.normalize(line.lower()) for line in lines), language)
