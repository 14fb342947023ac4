"""How often words stand beside each other, which says whether a placeholder between them stands for nothing."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from headway.ext.protect.neighbors import list_neighbors
from headway.ext.protect.steady_phrases import UNSEEN, SteadyPhrase

PAIRS = 5000  # of neighbors that are kept, the most frequent ones
LEAST = 2  # times that such a pair occurs


class Gap(NamedTuple):
    """What is known of the places at which nothing stands.

    Attributes:
        pairs: How often a word or punctuation mark, without capitals, stands before each other one; "" stands at
            both ends of a text.
        places: How often any two do; those that `pairs` lacks count, too.
        phrases: How often the steady phrases occur.
    """

    pairs: Mapping[str, Mapping[str, int]]
    places: int
    phrases: int

    def fit(self, before: str, after: str) -> float:
        """Return how well nothing fits between two neighbors; compare it with `SteadyPhrase.fit`.

        A text has more places with nothing than phrases. A placeholder stands as often for nothing as for one of
        them, so the logarithm of their ratio is taken off.
        """
        likely = self.pairs.get(before, {}).get(after, 0) + UNSEEN
        return math.log(likely * max(1, self.phrases) / max(1, self.places))


def count_gaps(texts: Iterable[str], phrases: Iterable[SteadyPhrase]) -> Gap:
    """Count the neighbors in texts.

    Args:
        texts: Raw text, in which the phrases were found.
        phrases: The steady phrases.
    """
    counts = Counter(pair for text in texts for pair in list_neighbors(text))
    pairs: dict[str, dict[str, int]] = {}
    for (before, after), count in counts.most_common(PAIRS):
        if count >= LEAST:
            pairs.setdefault(before, {})[after] = count
    return Gap(pairs, counts.total(), sum(phrase.lines for phrase in phrases))
