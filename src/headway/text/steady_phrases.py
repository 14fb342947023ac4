"""Phrases that are translated in the same way in most sentences, found in a text and its translation."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from headway.text.words import find_neighbors, starts_sentence

WORDS = 2  # of a phrase and of its translation, at most
LEAST = 10  # lines that have a phrase
STEADY = 0.9  # of these lines whose translations have one of the forms
JOINED = (
    0.65  # of the lines of a phrase of two steady words whose translations join those of the words
)
USUAL = 0.8  # of these lines whose translations have the most frequent form, but for capitals
RARE = 0.02  # a form that fewer lines have does not count
OWN = 0.5  # of the lines with another form whose source has the phrase
MIXED = 0.45  # different words before a phrase, for each of these lines, at most
FOUND = 200
SPELLINGS = 12  # of the translations of a phrase
NEIGHBORS = 100  # words beside a phrase that are counted
UNSEEN = 0.05  # lines that count for a neighbor that was not seen
_WORD = re.compile(r"\w+")

Span = tuple[int, int]
Phrases = Mapping[str, list[Span]]


class SteadyPhrase(NamedTuple):
    """A phrase and its translations.

    Attributes:
        text: As it is mostly written within a sentence.
        initial: As it is mostly written at the beginning of one.
        translations: As they are written, the most frequent first.
        lines: How many lines have it.
        before: How many have each word or punctuation mark before it, without capitals; "": it is first.
        after: The same for what comes after it; "": it is last.
    """

    text: str
    initial: str
    translations: tuple[str, ...]
    lines: int
    before: Mapping[str, int]
    after: Mapping[str, int]

    def fit(self, before: str, after: str) -> float:
        """Return how well the phrase fits between two neighbors: the logarithm of a likelihood.

        The neighbors count as independent of each other, given the phrase.
        """
        likely = (self.before.get(before, 0) + UNSEEN) * (self.after.get(after, 0) + UNSEEN)
        return math.log(likely / (self.lines + 1))


def find_steady_phrases(sources: Sequence[str], translations: Sequence[str]) -> list[SteadyPhrase]:
    """Return phrases that most lines translate in the same way, the most frequent first.

    The translation of a phrase is the phrase of the translations that occurs with it most (by Dice's coefficient).
    Its other forms are sought in the lines that have none so far. If only one word of a phrase is translated so, such
    as "man is" by "Mann", its translation joins those of both words: "a man" by "ein Mann". Not taken are phrases
    that follow almost any word, such as "and", and phrases with numbers, which are parts of dates, times and prices.

    Args:
        sources: Raw text.
        translations: As many.
    """
    of_sources, of_targets = list(map(find_phrases, sources)), list(map(find_phrases, translations))
    frequency = Counter(phrase for phrases in of_targets for phrase in phrases)
    lines: dict[str, list[int]] = defaultdict(list)
    for number, phrases in enumerate(of_sources):
        for phrase, spans in phrases.items():
            if len(spans) == 1 and not any(map(str.isdigit, phrase.split())):
                lines[phrase].append(number)
    found: list[SteadyPhrase] = []
    translated: dict[str, set[str]] = {}
    for phrase, rows in sorted(
        lines.items(), key=lambda each: (-len(each[1]), len(each[0]), each[0])
    ):
        if len(found) == FOUND or len(rows) < LEAST:
            break
        written: tuple[Counter[str], Counter[str]] = Counter(), Counter()  # within, and first
        before, after = Counter[str](), Counter[str]()
        for row in rows:
            start, end = of_sources[row][phrase][0]
            neighbors = find_neighbors(sources[row], start, end)
            written[starts_sentence(sources[row][:start])][sources[row][start:end]] += 1
            before[neighbors[0]] += 1
            after[neighbors[1]] += 1
        targets = [of_targets[row] for row in rows]
        forms = _find_forms(targets, frequency)
        parts = [translated.get(word, set()) for word in phrase.split() if word != phrase]
        if parts and (not forms or any(part.intersection(forms) for part in parts)):
            forms = _join_forms(targets, parts, frequency)
        if not forms:
            continue
        translated[phrase] = set(forms)
        if len(before) > MIXED * len(rows):
            continue
        spelled = Counter(
            translations[row][slice(*span)]
            for row in rows
            for form in forms
            for span in of_targets[row].get(form, ())
        )
        within, first = ((written[i] or written[1 - i]).most_common(1)[0][0] for i in (0, 1))
        found.append(
            SteadyPhrase(
                within, first, tuple(text for text, _ in spelled.most_common(SPELLINGS)), len(rows),
                dict(before.most_common(NEIGHBORS)), dict(after.most_common(NEIGHBORS)),
            )
        )  # fmt: skip
    return found


def find_phrases(text: str) -> dict[str, list[Span]]:
    """Return where the phrases of a text stand: words with single spaces between them, without capitals."""
    found: dict[str, list[Span]] = {}
    spans = [match.span() for match in _WORD.finditer(text)]
    for first in range(len(spans)):
        for last in range(first, min(first + WORDS, len(spans))):
            if last > first and text[spans[last - 1][1] : spans[last][0]] != " ":
                break
            span = spans[first][0], spans[last][1]
            found.setdefault(text[slice(*span)].casefold(), []).append(span)
    return found


def _find_forms(targets: Sequence[Phrases], frequency: Counter[str]) -> list[str]:
    """Return the forms of a phrase's translation; none: it is not steady.

    Args:
        targets: The phrases of the translations of all lines that have the phrase.
        frequency: How many lines have each phrase.
    """
    forms: list[str] = []
    left = list(targets)
    while left:
        counts = Counter(phrase for phrases in left for phrase in phrases)
        best = max(counts, key=lambda p: (counts[p] / (len(left) + frequency[p]), p), default="")
        together = sum(best in phrases for phrases in targets)
        least = OWN * frequency[best] if forms else USUAL * len(targets)
        if counts[best] < max(2, RARE * len(targets)) or together < least:
            break
        forms.append(best)
        left = [phrases for phrases in left if best not in phrases]
    return forms if len(left) <= (1 - STEADY) * len(targets) else []


def _join_forms(
    targets: Sequence[Phrases], parts: Sequence[set[str]], frequency: Counter[str]
) -> list[str]:
    """Return the form of two words, each a translation of one of the phrase's words; none: few lines have it.

    Args:
        targets: The phrases of the translations of all lines that have the phrase.
        parts: The forms of each of the phrase's two words.
        frequency: How many lines have each phrase.
    """
    counts = Counter(phrase for phrases in targets for phrase in phrases if " " in phrase)
    joined = [" ".join(pair) for each in (parts, parts[::-1]) for pair in product(*each)]
    best = max(joined, key=lambda p: (counts[p] / (len(targets) + frequency[p]), p), default="")
    least = max(JOINED * len(targets), OWN * frequency[best])
    return [best] if best and counts[best] >= least else []
