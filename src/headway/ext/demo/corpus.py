"""Generate the built-in corpus: phrases in any two CLDR locales, sentences where frames exist."""

import hashlib
from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from headway.errors import HeadwayError
from headway.ext.demo.catalog import Catalog, shared_codes
from headway.ext.demo.formatter import Formatter, clean
from headway.ext.demo.frames import has_frames, make_sentence
from headway.ext.demo.kinds import KINDS, Kind

SENTENCE_SHARE = 0.36
TEST_SHARE = 0.04
VALID_SHARE = 0.01
# A kind is exhausted when this many draws in a row give no new pair.
_MAX_FAILED_DRAWS = 100


class Example(NamedTuple):
    """A pair of texts with the same meaning.

    Attributes:
        kind: Kind of phrase: a name of `headway.ext.demo.kinds.KINDS`, or ``sentence``.
        source: Text in the source locale.
        target: Text in the target locale.
    """

    kind: str
    source: str
    target: str


def generate(
    source_locale: str = "en", target_locale: str = "de", count: int = 100_000, seed: int = 1
) -> Iterator[Example]:
    """Generate distinct pairs of phrases, and of sentences if the frames have both languages.

    Texts are NFKC-normalized with plain spaces. No two sources are equal, even ignoring case, so each
    source has one target. Equal arguments give equal pairs on every machine
    with the same versions of Babel and num2words.

    Args:
        source_locale: A CLDR locale, such as ``en`` or ``pt_BR``.
        target_locale: Another CLDR locale.
        count: Number of pairs. The corpus is smaller if all kinds are exhausted before.
        seed: Random seed.

    Yields:
        Examples in random order of kinds.

    Raises:
        HeadwayError: If a locale is unknown, both are the same, or a package is missing.
    """
    source, target = Formatter(source_locale), Formatter(target_locale)
    if source.locale == target.locale:
        raise HeadwayError(
            f"source and target locale are both {source.locale}: give two different ones"
        )
    catalog, rng = shared_codes(source, target), Random(seed)
    kinds, shares = dict(KINDS), dict.fromkeys(KINDS, 1 / len(KINDS))
    if has_frames(source) and has_frames(target):
        kinds["sentence"] = make_sentence
        shares["sentence"] = SENTENCE_SHARE / (1 - SENTENCE_SHARE)

    seen: set[str] = set()
    while len(seen) < count and shares:
        name = rng.choices(list(shares), list(shares.values()))[0]
        for _ in range(_MAX_FAILED_DRAWS):
            pair = _draw(kinds[name], rng, catalog, source, target)
            if pair is not None and pair[0].casefold() not in seen:
                seen.add(pair[0].casefold())
                yield Example(name, *pair)
                break
        else:
            del shares[name]


def split(examples: Iterable[Example]) -> tuple[list[Example], list[Example], list[Example]]:
    """Split examples into training, validation and test pairs by a hash of their sources.

    A source falls into the same part in every corpus, whatever its case.

    Args:
        examples: Examples of one or more corpora.

    Returns:
        Training, validation and test examples (about 95, 1 and 4 percent), each in the given order.
    """
    train: list[Example] = []
    valid: list[Example] = []
    test: list[Example] = []
    for example in examples:
        digest = hashlib.sha256(example.source.casefold().encode()).digest()
        position = int.from_bytes(digest[:8], "big") / 2**64
        if position < TEST_SHARE:
            test.append(example)
        elif position < TEST_SHARE + VALID_SHARE:
            valid.append(example)
        else:
            train.append(example)
    return train, valid, test


def _draw(
    kind: Kind, rng: Random, catalog: Catalog, source: Formatter, target: Formatter
) -> tuple[str, str] | None:
    """Draw a pair of texts; None if a locale cannot write it or the source is ambiguous."""
    try:
        phrase, *others = kind(rng, catalog)
        texts = clean(phrase(source)), clean(phrase(target))
        for other in others:
            if clean(other(source)) == texts[0] and clean(other(target)) != texts[1]:
                return None
    except (LookupError, NotImplementedError):
        return None
    # Corpus cleaning would drop a pair of equal texts.
    return texts if texts[0] != texts[1] and all(texts) else None
