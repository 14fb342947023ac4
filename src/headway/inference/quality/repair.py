"""Translate a segment again in other ways, because its first translation looks broken."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headway.config import SearchConfig
from headway.inference.choosing import search_and_choose
from headway.inference.quality.defects import Defect
from headway.inference.search.beam_search import Hypothesis
from headway.inference.search.constraints import Constraint, spell_words
from headway.inference.segments.readings import Reading
from headway.inference.segments.splitting import ReadingRow, Segment
from headway.inference.token_search import TokenSearch
from headway.text.numbers import spell_numbers
from headway.text.tokenizer import Tokenizer

CANDIDATES = 8  # of each way
EPSILON = 0.02  # samples have no token that is less likely


def find_candidates(
    token_search: TokenSearch,
    segment: Segment,
    defects: Sequence[Defect],
    search: SearchConfig,
    prefix: list[int],
) -> Iterator[tuple[Segment, list[Hypothesis]]]:
    """Yield the segment that each other way searched and the translations that it found, the most promising way first.

    The ways are: to force the numbers of the source into the translation, if numbers differ; a wider beam; and
    samples, unless the translation must contain something.

    Args:
        token_search: Of the model.
        segment: To translate.
        defects: What looks broken in its translation.
        search: The settings of the first search.
        prefix: Token ids that the translation starts with.
    """
    wide = replace(
        search, beam=max(CANDIDATES, 2 * search.beam), n_best=CANDIDATES, mbr=False, sample=False
    )
    ways = [(segment, wide)]
    if "numbers" in defects:
        ways.insert(0, (require_numbers(segment, token_search.tokenizer), wide))
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

    def find(rows: Sequence[ReadingRow], settings: SearchConfig) -> list[list[Hypothesis]]:
        return token_search.search_batch(
            [row.ids for row in rows], [prefix for _ in rows], settings,
            constraints=[row.constraints for row in rows],
        )  # fmt: skip

    for given, settings in ways:
        [candidates] = search_and_choose(find, token_search, None, [given], settings, [prefix])
        # Where the best has terms without natural places, the others have them in worse places.
        is_placed = candidates and candidates[0].without_terms is not None
        yield given, candidates[:1] if is_placed else candidates


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
