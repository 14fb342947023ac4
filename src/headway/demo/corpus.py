"""A parallel corpus made by rules: phrases in any two CLDR locales, sentences in three languages."""

import hashlib
from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from headway.demo.kinds import KINDS, Kind
from headway.demo.sentences import sentence, speaks
from headway.demo.speaker import Speaker, clean
from headway.demo.stock import Stock
from headway.errors import HeadwayError

SENTENCE_SHARE = 0.36
TEST_SHARE = 0.04
VALID_SHARE = 0.01
# So many draws in a row without anything new, and a kind has run out.
_PATIENCE = 100


class Example(NamedTuple):
    """A pair of texts that mean the same, and the kind of phrase they are."""

    kind: str
    source: str
    target: str


def generate(
    source_locale: str = "en", target_locale: str = "de", count: int = 100_000, seed: int = 1
) -> Iterator[Example]:
    """Generate distinct pairs of phrases and, between English, German and French, sentences.

    Texts are in NFKC with plain spaces. No two sources are equal, even ignoring case, so that a
    source has one target. Equal arguments give equal pairs, whatever the machine.

    Args:
        source_locale: A CLDR locale, such as ``en`` or ``pt_BR``.
        target_locale: Another CLDR locale.
        count: Number of pairs; fewer come where the two locales have no more to say.
        seed: Seed of the random choices.

    Yields:
        Examples, the kinds mixed.

    Raises:
        HeadwayError: If a locale is unknown, both are the same, or a package is missing.
    """
    source, target = Speaker(source_locale), Speaker(target_locale)
    if source.locale == target.locale:
        raise HeadwayError(f"source and target locale are both {source.locale}: give two")
    stock, rng = Stock.of(source, target), Random(seed)
    kinds, shares = dict(KINDS), dict.fromkeys(KINDS, 1 / len(KINDS))
    if speaks(source) and speaks(target):
        kinds["sentence"] = sentence
        shares["sentence"] = SENTENCE_SHARE / (1 - SENTENCE_SHARE)

    seen: set[str] = set()
    while len(seen) < count and shares:
        name = rng.choices(list(shares), list(shares.values()))[0]
        for _ in range(_PATIENCE):
            pair = _draw(kinds[name], rng, stock, source, target)
            if pair is not None and pair[0].casefold() not in seen:
                seen.add(pair[0].casefold())
                yield Example(name, *pair)
                break
        else:
            del shares[name]


def split(examples: Iterable[Example]) -> tuple[list[Example], list[Example], list[Example]]:
    """Split examples into training, validation and test pairs by a hash of their sources.

    A pair falls on the same side in every corpus that has it, and no source, ignoring case, on two.

    Args:
        examples: Any examples, not only of one corpus.

    Returns:
        About 95, 1 and 4 percent of the examples, each in the order given.
    """
    train: list[Example] = []
    valid: list[Example] = []
    test: list[Example] = []
    for example in examples:
        digest = hashlib.sha256(example.source.casefold().encode()).digest()
        place = int.from_bytes(digest[:8], "big") / 2**64
        side = test if place < TEST_SHARE else valid if place < TEST_SHARE + VALID_SHARE else train
        side.append(example)
    return train, valid, test


def _draw(
    kind: Kind, rng: Random, stock: Stock, source: Speaker, target: Speaker
) -> tuple[str, str] | None:
    """Draw a pair of texts, or None if the locales have no unambiguous one."""
    try:
        say, *rivals = kind(rng, stock)
        texts = clean(say(source)), clean(say(target))
        for rival in rivals:
            if clean(rival(source)) == texts[0] and clean(rival(target)) != texts[1]:
                return None
    except (LookupError, NotImplementedError):
        return None
    # Cleaning drops pairs that are not translated; they are not made in the first place.
    return texts if texts[0] != texts[1] and all(texts) else None
