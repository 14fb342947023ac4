"""The translation of a sentence divided among the cues that the sentence ran across."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from headway.ext.documents.paragraph import Translated
from headway.text import Span, WordLinks

_MARK_BONUS = 1.5  # how many links a comma at the end of a part is worth
_DISTANCE = 8.0  # how many links the length of the sentence is worth


def divide(texts: Sequence[str], translated: Translated) -> list[Translated]:
    """Divide a translation: every part gets the words that its text is linked to, in their order.

    Where links cross, or are missing, the parts have the proportions of the texts. If the translation
    has fewer words than there are texts, the last parts are empty.

    Args:
        texts: Parts of the source, which was translated with a space between them.
        translated: The translation of all of them.
    """
    source = " ".join(texts)
    links = translated.links or WordLinks.between(source, translated.text)
    words = links.target
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + 1)
    cuts = [0]
    for number in range(1, len(texts)):
        cuts.append(
            _find_cut(
                source, starts[number], words, links, translated.text, cuts[-1], len(texts) - number
            )
        )
    cuts.append(len(words))
    return [
        _part(translated.text, links, words[a:b], (starts[number], starts[number + 1] - 1))
        for number, (a, b) in enumerate(pairwise(cuts))
    ]


def _find_cut(
    source: str,
    start: int,
    words: Sequence[Span],
    links: WordLinks,
    target: str,
    lowest: int,
    left: int,
) -> int:
    """Return the number of the first target word after a boundary of the source."""
    ideal = start / max(1, len(source)) * len(target)
    boundary = bisect_left(links.source, (start, start))
    first, last = lowest + 1, len(words) - left
    if first > last:
        return min(first, len(words))
    # A link counts for a cut that leaves it on its side.
    gains = [0] * (len(words) + 1)
    for source_word, target_word in links.pairs:
        gains[target_word + 1] += 1 if source_word < boundary else -1
    best, best_score, total = first, float("-inf"), 0
    for cut in range(last + 1):
        total += gains[cut]
        if cut < first:
            continue
        at = words[cut][0] if cut < len(words) else len(target)
        mark = target[words[cut - 1][1] - 1] in ",;:.!?…–—、，；：。！？"
        score = total + _MARK_BONUS * mark - _DISTANCE * abs(at - ideal) / max(1, len(target))
        if score > best_score:
            best, best_score = cut, score
    return best


def _part(target: str, links: WordLinks, words: Sequence[Span], span: Span) -> Translated:
    """Return a part of a translation, with the links between its words and those of its text."""
    if not words:
        return Translated("")
    first, last = words[0][0], words[-1][1]
    sources = [n for n, (a, b) in enumerate(links.source) if span[0] <= a and b <= span[1]]
    targets = [n for n, (a, b) in enumerate(links.target) if first <= a and b <= last]
    pairs = [
        (s - sources[0], t - targets[0])
        for s, t in links.pairs
        if sources and targets and sources[0] <= s <= sources[-1] and targets[0] <= t <= targets[-1]
    ]
    return Translated(
        target[first:last],
        WordLinks(
            [(links.source[n][0] - span[0], links.source[n][1] - span[0]) for n in sources],
            [(links.target[n][0] - first, links.target[n][1] - first) for n in targets],
            pairs,
        ),
    )
