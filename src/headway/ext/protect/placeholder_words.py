"""Placeholder words: what a model reads in the place of placeholders and the like.

They are phrases that it translates in the same way in most sentences ("a man", "two", "dog"), or nothing where the sentence is
whole without. Both are counted in the training text (`headway.ext.protect.learned_placeholder_words`) and stored in ``stand_ins.json``. A
model without that file reads words that it copies.
"""

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headway import __version__
from headway.errors import HeadwayError
from headway.ext.protect.capitals import starts_sentence
from headway.files import check_writer, read_small_file, replace_text
from headway.text import SPACE, WORD, Tokenizer
from headway.translation import spell_words

if TYPE_CHECKING:
    from headway.translation import Engine

FILE = "stand_ins.json"
FORMAT = 2  # in format 1, which no released version wrote, there was no gap
MAX_BYTES = 64 << 20  # a pair of languages has 200,000 mostly, and 2 million at most
UNSEEN = 0.05  # lines that count for a neighbor that was not seen
FOUND = 24  # words that a model copies
EXAMINED = 1000  # words; the most frequent are first in a vocabulary
AT_ONCE = 250
COMMON = 0.25  # how much it counts against a word that it is common
_TOKEN = re.compile(rf"{WORD}|[^\w\s]")


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


class PlaceholderWord(NamedTuple):
    """A word or phrase that the model translates in the same way in most sentences, or nothing.

    Attributes:
        text: What the model reads; "": nothing, because the sentence may be whole without a placeholder.
        alternatives: The target token ids of its translations.
        known: Says where it fits; None: it is a word that is copied, or nothing beside such words.
    """

    text: str
    alternatives: tuple[tuple[int, ...], ...]
    known: SteadyPhrase | Gap | None = None

    def read_after(self, before: str) -> str:
        """Return what the model reads behind a text."""
        if isinstance(self.known, SteadyPhrase) and starts_sentence(before):
            return self.known.initial
        return self.text

    def fit(self, neighbors: tuple[str, str]) -> float:
        """Return how well it fits between two neighbors; see `SteadyPhrase.fit` and `Gap.fit`."""
        return 0.0 if self.known is None else self.known.fit(*neighbors)

    def is_within(self, other: "PlaceholderWord") -> bool:
        """Return whether a translation of it is one of another placeholder word, or a part of one."""
        return not _list_parts(other.alternatives).isdisjoint(self.alternatives)


NOTHING = PlaceholderWord("", ())


@lru_cache(1024)
def _list_parts(alternatives: tuple[tuple[int, ...], ...]) -> frozenset[tuple[int, ...]]:
    """Return all runs of tokens in alternatives."""
    return frozenset(
        tokens[start:end]
        for tokens in alternatives
        for start, end in combinations(range(len(tokens) + 1), 2)
    )


def list_neighbors(text: str) -> list[tuple[str, str]]:
    """Return the words or punctuation marks before and after each place between two of them, and at both ends.

    They have no capitals. An empty one means that the place is first or last. What stands before it has a "^" if it is the
    first of the text: in English, "has" mostly asks for a name there, and elsewhere for a verb.
    """
    tokens = [token.casefold() for token in _TOKEN.findall(text)]
    before = ["", *(f"^{token}" for token in tokens[:1]), *tokens[1:]]
    return [*zip(before, [*tokens, ""], strict=True)]


def find_neighbors(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the words or punctuation marks before and after a part of a text; see `list_neighbors`."""
    after = _TOKEN.search(text, end)
    return list_neighbors(text[:start])[-1][0], (after[0] if after else "").casefold()


def find_free(
    words: Sequence[PlaceholderWord], text: str, written: Collection[int]
) -> list[PlaceholderWord]:
    """Return the words and phrases that a translation can only contain because of themselves.

    Two phrases may have one translation: a text with "personnes" has no placeholder word "gens", because both are "people".

    Args:
        words: Of the model.
        text: What the model reads besides.
        written: Tokens that the translation must contain besides, of terms and numbers: what has one of them could only be
            written as a part of these.
    """
    present = _spell_phrase(text)
    said = [each for each in words if each.text and _spell_phrase(each.text) in present]
    return [
        each
        for each in words
        if each.text
        and _spell_phrase(each.text) not in present
        and not any(not set(tokens).isdisjoint(written) for tokens in each.alternatives)
        and not any(map(each.is_within, said))
    ]


def choose_words(
    free: Sequence[PlaceholderWord],
    nothing: Sequence[PlaceholderWord],
    neighbors: Sequence[tuple[str, str]],
    may_be_nothing: Sequence[bool],
) -> list[PlaceholderWord]:
    """Return for each name the phrase, or nothing, that fits best between its neighbors.

    No phrase is taken twice while there are others, so that names do not change places.

    Args:
        free: From `find_free`.
        nothing: The words that are none.
        neighbors: For each name, from `find_neighbors`.
        may_be_nothing: Whether each may stand for nothing.
    """
    chosen: list[PlaceholderWord] = []
    apart = list(free)  # those that have nothing in common with a chosen one
    for beside, may_be in zip(neighbors, may_be_nothing, strict=True):
        fitting = [*(apart or free), *(nothing if may_be else ())]
        new = max(fitting, key=lambda each: each.fit(beside))
        apart = [each for each in apart if not (each.is_within(new) or new.is_within(each))]
        chosen.append(new)
    return chosen


def _spell_phrase(text: str) -> str:
    """Return the words of a text without capitals, each between spaces."""
    return " ".join(["", *re.findall(WORD, text.casefold()), ""])


def spell_learned(learned: LearnedPhrases, tokenizer: Tokenizer) -> list[PlaceholderWord]:
    """Return the phrases that were learned, and nothing, which may fit better than any of them.

    Args:
        learned: For the pair of languages of a translation.
        tokenizer: Of the model.
    """
    phrases = [
        PlaceholderWord(phrase.text, spell_words(tokenizer, phrase.translations), phrase)
        for phrase in learned.phrases
    ]
    return [*phrases, PlaceholderWord("", (), learned.gap)]


def find_copied(engine: "Engine", tokenizer: Tokenizer) -> list[PlaceholderWord]:
    """Return the words that a model copies best, the best first.

    Candidates are words with a capital and numbers, because names and numbers are copied in most
    languages. They are ranked by the probability that the translation of the word alone begins with it,
    less for words that begin the translations of other words too.

    Args:
        engine: Runs the model.
        tokenizer: Of the model.
    """
    import numpy as np
    import torch

    candidates: list[tuple[PlaceholderWord, list[int]]] = []
    subwords = tokenizer.target_subwords(range(tokenizer.target_vocab_size))
    words = dict.fromkeys(subword.removeprefix(SPACE) for subword in subwords)
    likely = [
        word
        for word in words
        if word.isascii()
        and word.isalnum()
        and (word.isdigit() or (word[0].isupper() and len(word) > 1))
    ]
    for word in likely[:EXAMINED]:
        [source], [target] = tokenizer.encode_source([word]), tokenizer.encode_target([word])
        is_short = len(source) <= 4 and len(target) <= 3  # two tokens, </s>, perhaps a language
        if is_short and tokenizer.unk not in (*source, *target):
            candidates.append((PlaceholderWord(word, (tuple(target[:-1]),)), source))
    own: list[float] = []  # the log-probability of each word, given itself
    usual = torch.zeros(tokenizer.target_vocab_size, dtype=torch.float64)  # given any of the words
    for start in range(0, len(candidates), AT_ONCE):
        part = candidates[start : start + AT_ONCE]
        with torch.inference_mode():
            decoding = engine.start([source for _, source in part], 1, 2)
            logits_NV = decoding.logits(np.full(len(part), tokenizer.target_pad))
        log_p_NV = logits_NV.double().log_softmax(-1).cpu()
        own += log_p_NV[range(len(part)), [each.alternatives[0][0] for each, _ in part]].tolist()
        usual += log_p_NV.exp().sum(0) / len(candidates)
    prior = usual.log().tolist()
    scores = [
        each - COMMON * prior[placeholder_word.alternatives[0][0]]
        for each, (placeholder_word, _) in zip(own, candidates, strict=True)
    ]
    best = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:FOUND]
    return [candidates[i][0] for i in best]


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
    """Return what was learned for each pair of languages of a model; none: it has no ``stand_ins.json`` of this format.

    Raises:
        OtherVersionError: If another Headway wrote the file, and this one does not understand it.
        HeadwayError: If the file is damaged.
    """
    if directory is None or not (file := directory / FILE).is_file():
        return {}
    values: Any = read_small_file(file, FORMAT, MAX_BYTES)
    if values["format"] < FORMAT:
        return {}
    with check_writer(file, values):
        try:
            return {
                name: _parse(some["phrases"], some["gap"]) for name, some in values["pairs"].items()
            }
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise HeadwayError(
                f"{file}: damaged: its phrases are not as a training writes them ({error})"
            ) from None


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
