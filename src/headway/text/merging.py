"""Byte-pair encoding with random omission of merges (Provilkov et al. 2020, BPE dropout).

sentencepiece has it too, but its result differs from process to process, whatever the seed.
"""

from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from random import Random


def merge(text: str, scores: Mapping[str, float], dropout: float, random: Random) -> list[str]:
    """Split a text into subwords: neighbors merge, the pair with the highest score first.

    Args:
        text: Text as sentencepiece normalizes it, with U+2581 for spaces.
        scores: Subword -> score, for each subword that two others can merge into.
        dropout: The probability that a merge is omitted when its turn comes; 0: as sentencepiece.
        random: Drawn from once for each possible merge.
    """
    pieces = list(text)  # an empty string has merged into the piece before it
    end = len(pieces)
    before, after = list(range(-1, end - 1)), list(range(1, end + 1))
    merges = [
        (-scores[pair], i, pair) for i in range(end - 1) if (pair := text[i : i + 2]) in scores
    ]
    heapify(merges)

    def offer(left: int, right: int) -> None:
        if left >= 0 and right < end and (pair := pieces[left] + pieces[right]) in scores:
            heappush(merges, (-scores[pair], left, pair))

    while merges:
        _, left, pair = heappop(merges)
        right = after[left]
        if not pieces[left] or right == end or pieces[left] + pieces[right] != pair:
            continue  # one of the two has merged with another piece since
        if dropout and random.random() < dropout:
            continue
        pieces[left], pieces[right] = pair, ""
        after[left] = after[right]
        if after[left] < end:
            before[after[left]] = left
        offer(before[left], left)
        offer(left, after[left])
    return [piece for piece in pieces if piece]
