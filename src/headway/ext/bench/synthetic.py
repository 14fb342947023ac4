"""Random sentences with realistic lengths, for measuring speed."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from headway.config import TextConfig
from headway.text import EOS, Corpus, Group, PreparedData, Tokenizer

# Mean and standard deviation of log(target length / source length), English to German.
LOG_RATIO_MEAN, LOG_RATIO_DEVIATION = 0.03, 0.17

LengthArray = NDArray[np.int64]


class Lengths(NamedTuple):
    """A log-normal distribution of source lengths in tokens.

    Attributes:
        median: Median of the lengths.
        spread: Standard deviation of the logarithm.
    """

    median: float
    spread: float


# Measured with joint English-German BPE vocabularies, </s> included: image captions (training text of
# Multi30k, 8,000 subwords) and news (newstest2013, 37,000 subwords).
TEXTS = {"captions": Lengths(14.7, 0.30), "news": Lengths(22.2, 0.58)}


class NoTokenizer(NamedTuple):
    """Stands in for a tokenizer: what a training feed asks one for."""

    source_pad: int
    target_pad: int
    target_vocab_size: int


def draw_lengths(text: str, count: int, longest: int, seed: int) -> tuple[LengthArray, LengthArray]:
    """Draw source and target lengths of sentence pairs, int64 [count] each.

    Args:
        text: Key of `TEXTS`.
        count: Number of pairs.
        longest: Maximum number of tokens of a side.
        seed: Random seed.
    """
    random = np.random.default_rng(seed)
    log_source = np.log(TEXTS[text].median) + TEXTS[text].spread * random.standard_normal(count)
    log_target = log_source + LOG_RATIO_MEAN + LOG_RATIO_DEVIATION * random.standard_normal(count)
    source, target = (np.exp(x).round().clip(2, longest) for x in (log_source, log_target))
    return source.astype(np.int64), target.astype(np.int64)


def draw_sentences(lengths: LengthArray, vocab_size: int, seed: int) -> Iterator[list[int]]:
    """Yield a sentence of each length: random ids without ``<pad>``, ``</s>`` last."""
    random = np.random.default_rng(seed)
    for length in lengths.tolist():
        yield [*random.integers(EOS + 1, vocab_size - 1, length - 1).tolist(), EOS]


def prepare_synthetic(
    directory: Path, text: str, count: int, vocab_size: int, longest: int, seed: int
) -> PreparedData:
    """Write a corpus of random sentences in the format of `headway prepare`, without the text files.

    Args:
        directory: An empty directory.
        text: Key of `TEXTS`.
        count: Number of pairs.
        vocab_size: Vocabulary size of both sides.
        longest: Maximum number of tokens of a side.
        seed: Random seed of lengths and ids.
    """
    sources, targets = draw_lengths(text, count, longest, seed)
    sides = (
        draw_sentences(sources, vocab_size, seed + 1),
        draw_sentences(targets, vocab_size, seed + 2),
    )
    corpus = Corpus.write(directory / "train", zip(*sides, strict=True), vocab_size)
    languages = ("en", "de")
    return PreparedData(
        directory=directory,
        tokenizer=cast(Tokenizer, NoTokenizer(vocab_size - 1, vocab_size - 1, vocab_size)),
        train=corpus,
        valid=corpus,
        valid_source=[],
        valid_target=[],
        languages=languages,
        groups=[Group(languages, len(corpus), len(corpus))],
        fingerprint=corpus.fingerprint,
        text=TextConfig(),
    )
