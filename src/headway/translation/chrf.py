"""chrF1 of many texts against each other (Popović, 2015), as sacreBLEU computes it for sentences.

Precision and recall count equally. With the usual chrF2, minimum Bayes risk chooses translations that are too
long, because recall counts more.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ORDER = 6  # characters of the longest n-gram


def pairwise_chrf(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the chrF1 of each text with each text as its reference, [hypotheses, references], from 0 to 1.

    The n-grams of a text are counted once. The k-th occurrence of an n-gram counts as a feature of its
    own, so that the matches of all pairs are one product of matrices of zeros and ones.
    """
    # sacreBLEU ignores white space.
    characters = ["".join(text.split()) for text in texts]
    precision, recall = np.zeros((2, len(texts), len(texts)))
    orders = np.zeros_like(precision)
    for order in range(1, ORDER + 1):
        has_HG = _features(characters, order)
        size_H = has_HG.sum(1)
        matches_HR = (has_HG @ has_HG.T).astype(np.float64)
        # An order counts only if both texts are long enough for it.
        orders += (size_H[:, None] > 0) & (size_H > 0)
        precision += matches_HR / np.maximum(size_H, 1)[:, None]
        recall += matches_HR / np.maximum(size_H, 1)
    orders = np.maximum(orders, 1)
    precision, recall = precision / orders, recall / orders
    total = precision + recall
    return 2 * precision * recall / np.where(total > 0, total, 1)


def _features(texts: Sequence[str], order: int) -> NDArray[np.float32]:
    """Return which text has which n-gram how often, as zeros and ones, [texts, features]."""
    columns: dict[tuple[str, int], int] = {}
    cells = []
    for text in texts:
        counts = Counter(text[i : i + order] for i in range(len(text) - order + 1))
        cells.append(
            [
                columns.setdefault((ngram, k), len(columns))
                for ngram, count in counts.items()
                for k in range(count)
            ]
        )
    # Sums of float32 are exact below 2^24.
    has = np.zeros((len(texts), len(columns)), dtype=np.float32)
    for row, cell in enumerate(cells):
        has[row, cell] = 1
    return has
