"""Translate a piece again in other ways, because its first translation looks broken."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headway.config import SearchConfig
from headway.ext.protect import MaskedSource, spell_numbers
from headway.ext.quality.defects import Defect
from headway.text import Tokenizer
from headway.translation import Constraint, Piece, spell_words

CANDIDATES = 8  # of each way
EPSILON = 0.02  # samples have no token that is less likely


def list_ways(
    tokenizer: Tokenizer, piece: Piece, defects: Sequence[Defect], search: SearchConfig
) -> list[tuple[Piece, SearchConfig]]:
    """Return the pieces and the settings of other searches for a translation, the most promising way first.

    The ways are: to force the numbers of the source into the translation, if numbers differ; a wider beam; and
    samples, unless the translation must contain something.

    Args:
        tokenizer: Of the model.
        piece: To translate.
        defects: What looks broken in its translation.
        search: The settings of the first search.
    """
    wide = replace(
        search, beam=max(CANDIDATES, 2 * search.beam), n_best=CANDIDATES, mbr=False, sample=False
    )
    ways = [(piece, wide)]
    if "numbers" in defects:
        ways.insert(0, (require_numbers(piece, tokenizer), wide))
    if not piece.masked_sources:
        samples = replace(
            wide,
            sample=True,
            epsilon=EPSILON,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            beam=search.beam,
        )
        ways.append((piece, samples))
    return ways


def require_numbers(piece: Piece, tokenizer: Tokenizer) -> Piece:
    """Return a piece whose translation must contain its numbers, also in other masked sources."""
    text = piece.text.strip()
    plain = MaskedSource(text, piece.ids)
    masked_sources = [
        masked._replace(constraints=(*masked.constraints, *_numbers_of(masked, tokenizer)))
        for masked in piece.masked_sources or (plain,)
    ]
    return piece._replace(masked_sources=tuple(masked_sources))


def _numbers_of(masked: MaskedSource, tokenizer: Tokenizer) -> Iterator[Constraint]:
    """Yield a constraint for each number besides those that are required anyway: of terms, placeholder words and literals."""
    text = masked.text
    for part in masked.find("term", "name", "literal"):
        start, end = part.span
        text = text[:start] + " " * (end - start) + text[end:]
    for forms in spell_numbers(text):
        yield Constraint(spell_words(tokenizer, forms))
