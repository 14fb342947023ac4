"""Translate a segment again in other ways, because its first translation looks broken."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headway.config import SearchConfig
from headway.ext.protect import Reading, spell_numbers
from headway.ext.quality.defects import Defect
from headway.text import Tokenizer
from headway.translation import Constraint, Segment, spell_words

CANDIDATES = 8  # of each way
EPSILON = 0.02  # samples have no token that is less likely


def list_ways(
    tokenizer: Tokenizer, segment: Segment, defects: Sequence[Defect], search: SearchConfig
) -> list[tuple[Segment, SearchConfig]]:
    """Return the segments and the settings of other searches for a translation, the most promising way first.

    The ways are: to force the numbers of the source into the translation, if numbers differ; a wider beam; and
    samples, unless the translation must contain something.

    Args:
        tokenizer: Of the model.
        segment: To translate.
        defects: What looks broken in its translation.
        search: The settings of the first search.
    """
    wide = replace(
        search, beam=max(CANDIDATES, 2 * search.beam), n_best=CANDIDATES, mbr=False, sample=False
    )
    ways = [(segment, wide)]
    if "numbers" in defects:
        ways.insert(0, (require_numbers(segment, tokenizer), wide))
    if not segment.readings:
        samples = replace(
            wide,
            sample=True,
            epsilon=EPSILON,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            beam=search.beam,
        )
        ways.append((segment, samples))
    return ways


def require_numbers(segment: Segment, tokenizer: Tokenizer) -> Segment:
    """Return a segment whose translation must contain its numbers, also in other readings."""
    text = segment.text.strip()
    plain = Reading(text, segment.ids, (), (), (), (), ((text, text),))
    readings = [
        reading._replace(constraints=(*reading.constraints, *_numbers_of(reading, tokenizer)))
        for reading in segment.readings or (plain,)
    ]
    return segment._replace(readings=tuple(readings))


def _numbers_of(reading: Reading, tokenizer: Tokenizer) -> Iterator[Constraint]:
    """Yield a constraint for each number besides those that are required anyway: of terms, stand-ins and literals."""
    required = [(term.start, term.end) for term in reading.terms]
    required += [*(name.read for name in reading.names), *reading.literals]
    text = reading.text
    for start, end in required:
        text = text[:start] + " " * (end - start) + text[end:]
    for forms in spell_numbers(text):
        yield Constraint(spell_words(tokenizer, forms))
