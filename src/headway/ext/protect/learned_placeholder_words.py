"""Learn placeholder words from a text and its translation, such as the training text: a step at the end of a run."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from headway.config import Config
from headway.ext.protect.capitals import starts_sentence
from headway.ext.protect.placeholder_words import FILE as FILE
from headway.ext.protect.placeholder_words import (
    Gap,
    LearnedPhrases,
    SteadyPhrase,
    list_neighbors,
    save_placeholder_words,
)
from headway.text import WORD, PreparedData, Span, name_pair

if TYPE_CHECKING:
    from headway.training import Event, RunDirectory

MAX_PAIRS = 20_000  # of the training text; a thousand take a third of a second
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
COUNTS = 3  # numbers of things
SPELLINGS = 12  # of the translations of a phrase
NEIGHBORS = 100  # words beside a phrase that are counted
_WORD = re.compile(WORD)
_COUNT = re.compile(r"(?<!\S)([2-9]|[1-9][0-9])(?= [^\W\d])")  # of things, before their name
PAIRS = 5000  # of neighbors that are kept, the most frequent ones
SEEN = 2  # times that such a pair occurs, at least
Phrases = Mapping[str, list[Span]]


def wants(config: Config) -> bool:
    """Return whether a run looks for phrases at its end."""
    return config.model.kind == "translator"


def learn(directory: "RunDirectory", data: PreparedData, device: str) -> "Iterator[Event]":
    """Find phrases in the training text of each pair of languages; only the first rank does it."""
    from headway.training import parallel

    if parallel.rank() == 0:
        found = {
            name_pair(languages): learn_placeholder_words(*zip(*pairs, strict=True))
            for languages, pairs in data.sample(MAX_PAIRS)
        }
        for path in directory.list_installed():
            save_placeholder_words(path, found)
    yield from ()


def learn_placeholder_words(sources: Sequence[str], translations: Sequence[str]) -> LearnedPhrases:
    """Learn from raw text and as many translations."""
    phrases = find_steady_phrases(sources, translations)
    return LearnedPhrases(phrases, count_gaps(sources, phrases))


def count_gaps(texts: Iterable[str], phrases: Iterable[SteadyPhrase]) -> Gap:
    """Count the neighbors in texts.

    Args:
        texts: Raw text, in which the phrases were found.
        phrases: The steady phrases.
    """
    counts = Counter(pair for text in texts for pair in list_neighbors(text))
    pairs: dict[str, dict[str, int]] = {}
    for (before, after), count in counts.most_common(PAIRS):
        if count >= SEEN:
            pairs.setdefault(before, {})[after] = count
    return Gap(pairs, counts.total(), sum(phrase.lines for phrase in phrases))


def find_steady_phrases(sources: Sequence[str], translations: Sequence[str]) -> list[SteadyPhrase]:
    """Return phrases that most lines translate in the same way, the most frequent first.

    The translation of a phrase is the phrase of the translations that occurs with it most (by Dice's coefficient).
    Its other forms are sought in the lines that have none so far. If it is the translation of one word of the phrase,
    such as "Mann" for "a man", those of both words are joined: "ein Mann"; a phrase of which a word is lost is not
    taken. Nor are phrases that follow almost any word, such as "and", and phrases with numbers, which are parts of
    dates, times and prices, but for some numbers of things ("7 minutes").

    Args:
        sources: Raw text.
        translations: As many.
    """
    of_sources, of_targets = list(map(find_phrases, sources)), list(map(find_phrases, translations))
    frequency = Counter(phrase for phrases in of_targets for phrase in phrases)
    lines: dict[str, list[int]] = defaultdict(list)
    for row, phrases in enumerate(of_sources):
        for phrase, spans in phrases.items():
            is_count = phrase.isdigit() and _COUNT.match(sources[row], spans[0][0])
            if len(spans) == 1 and (is_count or not any(map(str.isdigit, phrase.split()))):
                lines[phrase].append(row)

    @cache
    def translate(phrase: str) -> list[str]:
        """Return the forms of a phrase; none: it is not steady, or too rare."""
        targets = [of_targets[row] for row in lines.get(phrase, ())]
        if len(targets) < LEAST:
            return []
        forms = _find_forms(targets, frequency)
        words = phrase.split()
        if len(words) == 1:
            return forms
        parts = [translate(word) for word in words]
        if not forms or any(not set(forms).isdisjoint(part) for part in parts):
            return _join_forms(targets, parts, frequency)
        return forms if all(parts) or all(" " in form for form in forms) else []

    found: list[SteadyPhrase] = []
    counts: list[SteadyPhrase] = []
    for phrase, rows in sorted(
        lines.items(), key=lambda each: (-len(each[1]), len(each[0]), each[0])
    ):
        if len(found) == FOUND or len(rows) < LEAST:
            break
        forms, is_number = translate(phrase), phrase.isdigit()
        written: tuple[Counter[str], Counter[str]] = Counter(), Counter()  # within, and first
        before, after, spelled = Counter[str](), Counter[str](), Counter[str]()
        for row in rows if forms else ():
            start, end = of_sources[row][phrase][0]
            left, own, right = sources[row][:start], sources[row][start:end], sources[row][end:]
            written[starts_sentence(left)][own] += 1
            before[list_neighbors(left)[-1][0]] += 1
            after[list_neighbors(right)[0][1]] += 1
            places = (span for form in forms for span in of_targets[row].get(form, ()))
            spelled.update(translations[row][slice(*span)] for span in places)
        if not forms or (forms != [phrase] if is_number else len(before) > MIXED * len(rows)):
            continue
        within, first = ((written[i] or written[1 - i]).most_common(1)[0][0] for i in (0, 1))
        spellings = [text for text, _ in spelled.most_common(SPELLINGS)]
        steady = SteadyPhrase(within, first, spellings, len(rows), before, after)
        (counts if is_number else found).append(steady)
    kept = [_keep_neighbors(each) for each in (*found, *_pool(counts))]
    return sorted(kept, key=lambda each: -each.lines)


def _keep_neighbors(phrase: SteadyPhrase) -> SteadyPhrase:
    """Return a phrase with its most frequent neighbors."""
    before, after = (
        dict(Counter(neighbors).most_common(NEIGHBORS))
        for neighbors in (phrase.before, phrase.after)
    )
    return phrase._replace(before=before, after=after)


def _pool(counts: Sequence[SteadyPhrase]) -> list[SteadyPhrase]:
    """Return the most frequent numbers of things; each has an equal share of the neighbors of all.

    What stands beside one number may stand beside another, and each of them is rare.
    """
    kept = counts[:COUNTS]
    before, after = (
        {
            word: share
            for word, count in sum(map(Counter, all_neighbors), Counter[str]()).items()
            if (share := count // len(kept))
        }
        for all_neighbors in ([c.before for c in counts], [c.after for c in counts])
    )
    lines = sum(each.lines for each in counts) // max(1, len(kept))
    return [each._replace(lines=lines, before=before, after=after) for each in kept]


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
    targets: Sequence[Phrases], parts: Sequence[Sequence[str]], frequency: Counter[str]
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
