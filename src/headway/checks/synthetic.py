"""Sentences that mean nothing but are as long as real ones: what a speed is measured on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from headway.text.prepare import PreparedData
from headway.text.shards import Corpus
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import EOS

RATIO = (0.03, 0.17)  # mean and deviation of log(target / source): English to German


class Lengths(NamedTuple):
    """A log-normal distribution of source lengths in tokens.

    Attributes:
        median: Half the sentences are longer.
        spread: Standard deviation of the logarithm.
    """

    median: float
    spread: float


# Measured with joint BPE vocabularies, </s> included: image captions (the training text of Multi30k,
# 8,000 pieces) and news (newstest2013, 37,000 pieces), both English-German.
TEXTS = {"captions": Lengths(14.7, 0.30), "news": Lengths(22.2, 0.58)}


class Pads(NamedTuple):
    """All that a feed asks of a tokenizer: the ids of ``<pad>``."""

    source_pad: int
    target_pad: int


def draw_lengths(text: str, count: int, longest: int, seed: int) -> tuple[Any, Any]:
    """Draw source and target lengths of so many pairs, int64 [count] each.

    Args:
        text: Which of `TEXTS`.
        count: Pairs.
        longest: No side is longer.
        seed: The same seed gives the same lengths.
    """
    random = np.random.default_rng(seed)
    log_source = np.log(TEXTS[text].median) + TEXTS[text].spread * random.standard_normal(count)
    log_target = log_source + RATIO[0] + RATIO[1] * random.standard_normal(count)
    source, target = (np.exp(x).round().clip(2, longest) for x in (log_source, log_target))
    return source.astype(np.int64), target.astype(np.int64)


def draw_sentences(lengths: Any, vocab_size: int, seed: int) -> Iterator[Any]:
    """Yield a sentence of each length: random ids, ``</s>`` last, never ``<pad>``."""
    random = np.random.default_rng(seed)
    for length in lengths.tolist():
        yield np.append(random.integers(EOS + 1, vocab_size - 1, length - 1), EOS)


def prepare_synthetic(
    directory: Path, text: str, count: int, vocab_size: int, longest: int, seed: int
) -> PreparedData:
    """Write a corpus of such pairs as `headway.text.prepare` would, without its text.

    Args:
        directory: Where; must be empty.
        text: Which of `TEXTS`.
        count: Pairs.
        vocab_size: Of both sides.
        longest: No side is longer, in tokens.
        seed: Of lengths and ids.
    """
    sources, targets = draw_lengths(text, count, longest, seed)
    sides = (
        draw_sentences(sources, vocab_size, seed + 1),
        draw_sentences(targets, vocab_size, seed + 2),
    )
    corpus = Corpus.write(directory / "train", zip(*sides, strict=True), vocab_size)
    return PreparedData(
        directory=directory,
        tokenizer=cast(Tokenizer, Pads(vocab_size - 1, vocab_size - 1)),
        train=corpus,
        valid=corpus,
        valid_source=[],
        valid_target=[],
        languages=("en", "de"),
        fingerprint=corpus.fingerprint,
    )
