"""Placeholder words: what a model reads in the place of placeholders and the like.

They are phrases that it translates in the same way in most sentences ("a man", "two", "dog"), or nothing where the sentence is
whole without. Both are counted in the training text (`headway.ext.protect.learned_placeholder_words`) and stored in ``stand_ins.json``. A
model without that file reads words that it copies.
"""

import json
import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from headway import __version__
from headway.ext.protect.capitals import starts_sentence
from headway.ext.protect.protected_text import Meaning
from headway.files import check_writer, read_small_file, replace_text
from headway.text import WORD, Languages, Tokenizer, name_pair
from headway.translation import TokenSearch, spell_words

FILE = "stand_ins.json"
FORMAT = 2
MAX_BYTES = 64 << 20  # a pair of languages has 200,000 mostly, and 2 million at most
# What a model without the file reads: names that most models copy.
NAMES = (
    "Anna", "Maria", "Thomas", "Peter", "Paris", "Berlin", "Robert", "Laura", "Daniel", "Julia", "London", "Alexander",
)  # fmt: skip
UNSEEN = 0.05  # lines that count for a neighbor that was not seen
_TOKEN = re.compile(rf"{WORD}|[^\w\s]")
# No time of day, and no part of a longer word.
NUMBER = re.compile(
    r"(?<![\w.,:])\d+(?:[.,\u00a0\u202f]\d{3})*(?P<decimals>[.,]\d+)?(?![\w:]|[.,]\d)"
)
_NEAR = 100  # characters
_INSTEAD: Mapping[Meaning, Sequence[Meaning]] = {  # as what it may be read, the best first
    "price": ("price", "amount"), "amount": ("amount",), "number": ("number",),
    "name": ("name",), "value": ("number",), "": (),
}  # fmt: skip
_AMOUNTS = ("price", "amount")
# Each is written for any number, and no part of a time: many languages have other forms behind those that end in 1 to 4.
NUMBERS = "65", "76", "98"
NUMBER_WORD = NUMBERS[0]
Neighbors = tuple[str, str]  # the words or punctuation marks before and after a place


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
    translations: Sequence[str]
    lines: int
    before: Mapping[str, int]
    after: Mapping[str, int]

    @property
    def meaning(self) -> Meaning:
        """What it is besides a phrase: a name, a number, or an amount, which begins with one."""
        first = self.text.partition(" ")[0]
        if not any(map(str.isdigit, first)):
            return "name" if first.istitle() and [*self.translations] == [first] else ""
        if any(unicodedata.category(character) == "Sc" for character in first):
            return "price"
        return "number" if self.text.isdigit() else "amount"

    def write_numbers(self) -> Iterator["SteadyPhrase"]:
        """Yield the phrase; one that stands for any number with each of several."""
        for number in NUMBERS if NUMBER_WORD in self.text else NUMBERS[:1]:
            text, initial, *translations = (
                each.replace(NUMBER_WORD, number)
                for each in (self.text, self.initial, *self.translations)
            )
            yield self._replace(text=text, initial=initial, translations=translations)

    def count_seen(self, before: str, after: str) -> int:
        """Return how many of two neighbors it had."""
        return (before in self.before) + (after in self.after)

    def fit(self, before: str, after: str) -> float:
        """Return how well the phrase fits between two neighbors: the logarithm of a likelihood.

        The neighbors count as independent of each other, given the phrase.
        """
        likely = (self.before.get(before, 0) + UNSEEN) * (self.after.get(after, 0) + UNSEEN)
        return math.log(likely / (self.lines + 1))


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

    def has(self, before: str, after: str) -> bool:
        """Return whether two neighbors often stand together."""
        return after in self.pairs.get(before, {})

    def fit(self, before: str, after: str) -> float:
        """Return how well nothing fits between two neighbors; compare it with `SteadyPhrase.fit`.

        A text has more places with nothing than phrases. A placeholder stands as often for nothing as for one of
        them, so the logarithm of their ratio is taken off.
        """
        likely = self.pairs.get(before, {}).get(after, 0) + UNSEEN
        return math.log(likely * max(1, self.phrases) / max(1, self.places))


class LearnedPhrases(NamedTuple):
    """What was learned for a pair of languages.

    Attributes:
        phrases: That most lines translate in the same way.
        gap: The places with nothing between two words.
    """

    phrases: Sequence[SteadyPhrase]
    gap: Gap


NO_GAP = Gap({}, 1 << 30, 0)  # it fits nowhere
COPIED = LearnedPhrases(
    [SteadyPhrase(word, word, [word], 0, {}, {}) for word in (*NAMES, NUMBER_WORD)], NO_GAP
)


class Place(NamedTuple):
    """A place in a sentence at which something is kept.

    Attributes:
        neighbors: The words beside it.
        may_be_nothing: Whether the sentence may be whole without it.
        meaning: Of what is kept.
    """

    neighbors: Neighbors
    may_be_nothing: bool
    meaning: Meaning = ""


class PlaceholderWord(NamedTuple):
    """A phrase that the model translates in the same way in most sentences.

    Attributes:
        phrase: The phrase.
        alternatives: The target token ids of its translations.
    """

    phrase: SteadyPhrase
    alternatives: tuple[tuple[int, ...], ...] = ()

    def spell_with(self, mark: str, tokenizer: Tokenizer) -> tuple[tuple[int, ...], ...]:
        """Return the token ids of translations that end in a sign, with a mark behind it, if both are one subword ("£.")."""
        signs = [text for text in self.phrase.translations if not text[-1:].isalnum()]
        spelled = [spell_words(tokenizer, [text, f"{text}{mark}"]) for text in signs if mark]
        # If the mark is a subword of its own, the constraint of the text without a mark already allows these tokens.
        return tuple(
            ids
            for own in spelled
            for ids in own
            if tokenizer.decode(ids).endswith(mark) and ids[:-1] not in own
        )

    def read_after(self, before: str) -> str:
        """Return what the model reads behind a text."""
        return self.phrase.initial if starts_sentence(before) else self.phrase.text

    def is_within(self, other: "PlaceholderWord") -> bool:
        """Return whether a translation of it is one of another placeholder word, or a part of one."""
        return not _list_parts(other.alternatives).isdisjoint(self.alternatives)


# The sentence may be whole without a placeholder.
NOTHING = PlaceholderWord(SteadyPhrase("", "", (), 0, {}, {}))


@lru_cache(1024)
def _list_parts(alternatives: tuple[tuple[int, ...], ...]) -> frozenset[tuple[int, ...]]:
    """Return all runs of tokens in alternatives."""
    return frozenset(
        tokens[start:end]
        for tokens in alternatives
        for start, end in combinations(range(len(tokens) + 1), 2)
    )


def list_neighbors(text: str) -> list[Neighbors]:
    """Return the words or punctuation marks before and after each place between two of them, and at both ends.

    They have no capitals, and all numbers count as the same. An empty one means that the place is first or last. What
    stands before it has a "^" if it is the first of the text: in English, "has" mostly asks for a name there, and elsewhere
    for a verb.
    """
    tokens = [token.casefold() for token in _TOKEN.findall(NUMBER.sub(NUMBER_WORD, text))]
    before = ["", *(f"^{token}" for token in tokens[:1]), *tokens[1:]]
    return [*zip(before, [*tokens, ""], strict=True)]


def find_neighbors(text: str, start: int, end: int) -> Neighbors:
    """Return the neighbors of a part of a text, as `list_neighbors` does; only what is near counts."""
    first = max(0, start - _NEAR)
    before = list_neighbors(text[first:start])[-1][0]
    return before.removeprefix("^" * (first > 0)), list_neighbors(text[end : end + _NEAR])[0][1]


class PlaceholderWords:
    """What a model reads in the place of placeholders and the like: phrases that it has learned, or words that it copies.

    Args:
        forward: The model.
        languages: Codes of source and target.
    """

    def __init__(self, forward: TokenSearch, languages: Languages) -> None:
        self._forward, self._languages = forward, languages

    @cached_property
    def known(self) -> tuple[list[PlaceholderWord], Gap]:
        """The words, and the places with nothing; read when a text needs them."""
        learned = load_placeholder_words(self._forward.directory).get(name_pair(self._languages))
        phrases, gap = learned if learned and learned.phrases else COPIED
        written = (each for phrase in phrases for each in phrase.write_numbers())
        return [
            PlaceholderWord(each, spell_words(self._forward.tokenizer, each.translations))
            for each in written
        ], gap

    def choose(
        self, text: str, written: Collection[int], places: Sequence[Place]
    ) -> list[PlaceholderWord | None]:
        """Return for each place the phrase, or nothing, that fits best between its neighbors; None: there is neither.

        The translation can only contain the phrases because of themselves: "personnes" in the text excludes "gens", because both
        are "people". No phrase is taken twice while there are others, so that names do not change places.

        Args:
            text: What the model reads besides.
            written: Tokens that the translation must contain besides, of terms and numbers.
            places: Those of the text.
        """
        (words, gap), present = self.known, _spell_phrase(text)
        said = [each for each in words if _spell_phrase(each.phrase.text) in present]
        free = [
            each
            for each in words
            if each not in said
            and all(set(tokens).isdisjoint(written) for tokens in each.alternatives)
            and not any(map(each.is_within, said))
        ]
        chosen: list[PlaceholderWord | None] = []
        apart = free  # those that have nothing in common with a chosen one
        for place in places:
            beside = place.neighbors
            meant = _find_meant(apart or free, gap, place)
            usable = meant or apart or free
            fits = [each.phrase.fit(*beside) for each in usable]
            best = max(fits, default=-math.inf)
            is_gap = gap.fit(*beside) > best
            if meant:  # a number seldom stands for nothing
                is_gap &= gap.has(*beside) and not meant[0].phrase.count_seen(*beside)
            if place.may_be_nothing and (is_gap or not fits):
                chosen.append(NOTHING)
            elif not fits:
                chosen.append(None)
            else:
                new = usable[fits.index(best)]
                apart = [each for each in apart if not (each.is_within(new) or new.is_within(each))]
                chosen.append(new)
        return chosen


def _find_meant(words: Sequence[PlaceholderWord], gap: Gap, place: Place) -> list[PlaceholderWord]:
    """Return the words with the meaning of a place; none: it may be any word.

    They are those that had a neighbor of the place, or else the most frequent one. Instead of a number it may be an amount that
    had both, as in "costs %d.". What may be anything is a number if nothing is known of the place ("There are {0} lamps").
    """
    counted = [(each, each.phrase.count_seen(*place.neighbors)) for each in words]
    is_known = gap.has(*place.neighbors) or any(count for _, count in counted)
    for meaning in _INSTEAD[place.meaning] if not is_known or place.meaning != "value" else ():
        same = [(each, count) for each, count in counted if each.phrase.meaning == meaning]
        if same and meaning == "number":
            same += [
                each for each in counted if each[1] == 2 and each[0].phrase.meaning in _AMOUNTS
            ]
        if same:
            return [each for each, count in same if count] or [same[0][0]]
    return []


def _spell_phrase(text: str) -> str:
    """Return the words of a text without capitals, each between spaces."""
    return " ".join(["", *re.findall(WORD, text.casefold()), ""])


def save_placeholder_words(directory: Path, learned: Mapping[str, LearnedPhrases]) -> None:
    """Write ``stand_ins.json``.

    Args:
        directory: Of the model.
        learned: For each pair of languages, such as "en-de".
    """
    pairs = {
        name: {"phrases": [each._asdict() for each in some.phrases], "gap": some.gap._asdict()}
        for name, some in learned.items()
    }
    values = {"format": FORMAT, "headway": __version__, "pairs": pairs}
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    replace_text(directory / FILE, text + "\n")


def load_placeholder_words(directory: Path | None) -> dict[str, LearnedPhrases]:
    """Return what was learned for each pair of languages of a model; none: it has no ``stand_ins.json``.

    Raises:
        OtherVersionError: If another Headway wrote the file, and this one does not understand it.
        HeadwayError: If the file is damaged.
    """
    if directory is None or not (file := directory / FILE).is_file():
        return {}
    values: Any = read_small_file(file, FORMAT, MAX_BYTES)
    with check_writer(file, values):
        return {
            name: _parse(some["phrases"], some["gap"]) for name, some in values["pairs"].items()
        }


def _parse(phrases: list[dict[str, Any]], gap: dict[str, Any]) -> LearnedPhrases:
    """Return what was learned for a pair of languages from its JSON; any error means that it is damaged."""
    learned = LearnedPhrases([SteadyPhrase(**each) for each in phrases], Gap(**gap))
    texts, counts = list[str](), [learned.gap.places, learned.gap.phrases]
    for each in learned.phrases:
        texts += [each.text, each.initial, *each.translations, each.translations[0]]
        counts += [each.lines, *each.before.values(), *each.after.values()]
    for neighbors in learned.gap.pairs.values():
        counts += neighbors.values()
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise ValueError("a phrase has no text")
    if not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError("a count is no number from 0 on")
    return learned
