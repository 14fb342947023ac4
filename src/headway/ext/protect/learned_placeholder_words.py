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
    NUMBER,
    NUMBER_WORD,
    Gap,
    LearnedPhrases,
    SteadyPhrase,
    find_neighbors,
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
SPELLINGS = 12  # of the translations of a phrase
NEIGHBORS = 100  # words beside a phrase that are counted
_SIGN = "[%$\u00a2-\u00a5\u20a0-\u20cf]"  # of a currency, which is one word with its number
_YEAR = f"19{NUMBER_WORD}"
_PRICE = rf"(?:{_SIGN} ?)?\b(?:19)?{NUMBER_WORD}(?:[.,]{NUMBER_WORD}?)?\b"
_WORD = re.compile(rf"{_PRICE}(?:[ \u00a0\u202f]?{_SIGN})?|{WORD}")
_AMOUNT = re.compile(rf"{_PRICE}\D*")
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
    taken. Nor are phrases that follow almost any word, such as "and". What stands beside one number may stand beside another,
    and each of them is rare: all count as the same, and a phrase such as "35 minutes" is found with some of them.

    Args:
        sources: Raw text.
        translations: As many.
    """
    sources, translations = ([*map(_hide_numbers, texts)] for texts in (sources, translations))
    of_sources, of_targets = list(map(find_phrases, sources)), list(map(find_phrases, translations))
    frequency = Counter(phrase for phrases in of_targets for phrase in phrases)
    lines: dict[str, list[int]] = defaultdict(list)
    for row, phrases in enumerate(of_sources):
        for phrase, spans in phrases.items():
            if len(spans) == 1 and (_AMOUNT.fullmatch(phrase) or not any(map(str.isdigit, phrase))):
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
    for phrase, rows in sorted(
        lines.items(), key=lambda each: (-len(each[1]), len(each[0]), each[0])
    ):
        if len(found) == FOUND or len(rows) < LEAST:
            break
        is_amount = _AMOUNT.fullmatch(phrase) is not None
        forms = [form for form in translate(phrase) if bool(_AMOUNT.fullmatch(form)) == is_amount]
        written: tuple[Counter[str], Counter[str]] = Counter(), Counter()  # within, and first
        before, after, spelled = Counter[str](), Counter[str](), Counter[str]()
        for row in rows if forms else ():
            start, end = of_sources[row][phrase][0]
            written[starts_sentence(sources[row][:start])][sources[row][start:end]] += 1
            beside = find_neighbors(sources[row], start, end)
            before[beside[0]] += 1
            after[beside[1]] += 1
            places = (span for form in forms for span in of_targets[row].get(form, ()))
            spelled.update(translations[row][slice(*span)] for span in places)
        is_any = phrase != NUMBER_WORD and len(before) > MIXED * len(rows)
        if not forms or is_any:
            continue
        within, first = ((written[i] or written[1 - i]).most_common(1)[0][0] for i in (0, 1))
        spellings = [text for text, _ in spelled.most_common(SPELLINGS)]
        neighbors = (dict(each.most_common(NEIGHBORS)) for each in (before, after))
        found.append(SteadyPhrase(within, first, spellings, len(rows), *neighbors))
    return found


def _hide_numbers(text: str) -> str:
    """Return a text in which all numbers with as many decimals, and all years, are the same."""
    return NUMBER.sub(_hide_digits, re.sub(r"(?<!\d)(?:1\d|20)\d\d(?!\d)", _YEAR, text))


def _hide_digits(number: re.Match[str]) -> str:
    decimals = number["decimals"] or ""
    other = NUMBER_WORD + decimals[:1] + NUMBER_WORD[: len(decimals[1:])]
    return _YEAR if number[0] == _YEAR else other


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
