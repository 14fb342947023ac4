"""Facts about the text that a user gives, and whether it is enough for a vocabulary."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

import numpy as np
import numpy.typing as npt

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.recipes import settings as numbers
from headway.recipes.given import GivenText
from headway.recipes.pair_fates import PairFates, mark_first, number_of
from headway.recipes.resolving import check_settings, list_text_settings
from headway.recipes.settings import Scale, Settings
from headway.text.cleaning import TOKENS
from headway.text.learning import spread_step
from headway.text.stages.selection import KEPT, Fates
from headway.text.tokenizer import Tokenizer

SAMPLE = 10_000  # pairs whose tokens are counted


@dataclass(frozen=True, kw_only=True)
class TextFacts:
    """What is known about the text before the training.

    Attributes:
        read: Pairs of the training text.
        kept: Those that are training text: fit, no duplicates, not held out, and without a side of a held-out pair.
        dropped: Cleaning rule -> pairs that it drops.
        source_characters: Of the kept pairs.
        target_characters: Likewise.
        validation: Validation pairs.
        mono_source: Lines of monolingual text that are fit for training, each of them counted once.
        mono_target: Likewise.
        mono_source_characters: Of these lines.
        mono_target_characters: Likewise.
        source_tokens: Of the kept pairs, ``</s>`` included, about; 0: not counted yet.
        target_tokens: Likewise.
    """

    read: int
    kept: int
    dropped: dict[str, int]
    source_characters: int
    target_characters: int
    validation: int
    mono_source: int
    mono_target: int
    mono_source_characters: int
    mono_target_characters: int
    source_tokens: int = 0
    target_tokens: int = 0

    def compare_lengths(self, side: Literal["source", "target"]) -> float:
        """Return how many times longer a monolingual line is than that side of a pair."""
        lines: int = getattr(self, f"mono_{side}")
        characters: int = getattr(self, f"mono_{side}_characters")
        of_pairs: int = getattr(self, f"{side}_characters")
        return characters / max(1, lines) / (of_pairs / self.kept)

    def describe(self) -> list[str]:
        """Return the facts in words, a line each."""
        held_out = self.read - self.kept - sum(self.dropped.values())
        others = f", {held_out:,} held out" if held_out else ""
        lines = [
            f"{self.read:,} training pairs: {self.kept:,} to train on{others}; on average"
            f" {self.source_characters / self.kept:.0f} and {self.target_characters / self.kept:.0f}"
            f" characters; {self.validation:,} validation pairs"
        ]
        dropped = sorted(self.dropped.items(), key=lambda item: -item[1])
        lines += [f"dropped: {count:,} pairs: {rule}" for rule, count in dropped]
        for side, count in (("source", self.mono_source), ("target", self.mono_target)):
            if count:
                lines.append(f"{count:,} monolingual lines of the {side} language")
        return lines


def look_at(text: GivenText) -> tuple[TextFacts, Fates]:
    """Read all files once and count.

    Returns:
        The facts, and what becomes of each pair that breaks no rule.

    Raises:
        HeadwayError: If a file cannot be read, or there are too few pairs.
    """
    pairs = PairFates(text.held_out, drop_duplicates=text.rules.drop_duplicates)
    lengths = np.zeros(2, np.int64)
    for pair in text.read_training():
        pairs.add(pair.source, pair.target, pair.rule)
        if pair.rule is None:
            lengths += len(pair.source), len(pair.target)
    if isinstance(text.valid, int):
        validation = text.valid
    else:
        validation = sum(1 for _ in text.read_validation())
    decided = pairs.decide()
    read, kept = pairs.report().read, int((decided.fates == KEPT).sum())
    if not isinstance(text.valid, int) and not validation:
        raise HeadwayError(f"{text.valid[0]}: has no pairs: give validation text")
    if not read:
        raise HeadwayError(f"{text.train[0]}: has no pairs: give training text")
    if not kept:
        rules = ", ".join(f"{n:,}: {rule}" for rule, n in pairs.count_dropped(decided).items())
        why = pairs.report().advice() or f"none of {read:,} training pairs is left ({rules})"
        raise HeadwayError(f"{text.train[0]}: {why}")
    share = kept / len(pairs)
    mono = [_count_lines(text, files) for files in (text.mono_source, text.mono_target)]
    facts = TextFacts(
        read=read,
        kept=kept,
        dropped=pairs.count_dropped(decided),
        source_characters=int(lengths[0] * share),
        target_characters=int(lengths[1] * share),
        validation=validation,
        mono_source=mono[0][0],
        mono_target=mono[1][0],
        mono_source_characters=mono[0][1],
        mono_target_characters=mono[1][1],
    )
    return facts, decided.fates


def _count_lines(text: GivenText, files: Sequence[str]) -> tuple[int, int]:
    """Return how many different lines of monolingual text are fit for training, and their characters."""
    numbers, lengths = array("Q"), array("I")
    for line in text.read_plain(files):
        numbers.append(number_of(line))
        lengths.append(len(line))
    if not files:
        return 0, 0
    if not numbers:
        raise HeadwayError(f"{files[0]}: no line is left after cleaning")
    is_first = mark_first(numbers)
    return int(is_first.sum()), int(np.frombuffer(lengths, np.uint32)[is_first].sum())


def fit_scale(
    text: GivenText, facts: TextFacts, fates: Fates, settings: Settings
) -> tuple[TextFacts, Scale]:
    """Return the facts with the numbers of tokens, and the scale of the text.

    The scale depends on the pairs that are short enough to train on, and their number on the vocabulary of the scale.

    Args:
        text: The user's text.
        facts: From `look_at`.
        fates: What becomes of its pairs, also from there.
        settings: Those of the user.

    Raises:
        UsageError: If the settings do not fit those of the scale.
        HeadwayError: If the text is too small.
    """
    scale = numbers.choose_scale(facts.kept)
    while True:
        check_settings(scale, settings)
        counted = facts
        if facts.kept >= numbers.LEAST_PAIRS:
            config = list_text_settings(scale, settings)[0]
            tokenizer = learn_vocabulary(text, fates, config)
            counted = count_tokens(text, facts, fates, tokenizer, config.max_tokens)
        if counted.kept < numbers.LEAST_PAIRS:
            raise HeadwayError(
                f"{text.train[0]}: {counted.kept} training pairs are left after cleaning, and headway best needs"
                f" {numbers.LEAST_PAIRS}"
            )
        if (
            counted.kept > scale.most_pairs
        ):  # smaller scales have smaller vocabularies, and never fit more
            counted = replace(counted, kept=int(scale.most_pairs))
        fitting = numbers.choose_scale(counted.kept)
        if fitting == scale:
            return counted, scale
        scale = fitting


def learn_vocabulary(text: GivenText, fates: Fates, config: TextConfig) -> Tokenizer:
    """Learn the subwords as the first training does, so that none finds that there are too few.

    Args:
        text: The user's text.
        fates: What becomes of its pairs; see `look_at`.
        config: The settings of the vocabulary.

    Raises:
        HeadwayError: If the text is too small for the vocabulary; it names the largest size.
    """
    return Tokenizer.learn(_spread_pairs(text, fates, config.sample_lines), config)


def count_tokens(
    text: GivenText, facts: TextFacts, fates: Fates, tokenizer: Tokenizer, most: int
) -> TextFacts:
    """Return the facts with the numbers of tokens, by a sample, and without pairs that are too long to train on.

    Args:
        text: The user's text.
        facts: From `look_at`.
        fates: What becomes of its pairs; see `look_at`.
        tokenizer: From `learn_vocabulary`.
        most: Tokens of the longer side of a pair.

    Raises:
        HeadwayError: If all pairs are too long.
    """
    sources, targets = (
        list(side) for side in zip(*_spread_pairs(text, fates, SAMPLE), strict=True)
    )
    lengths = measure_sides(tokenizer, sources, targets)
    fits = lengths.max(0) <= most
    if not fits.any():
        raise HeadwayError(
            f"{text.train[0]}: every training pair is longer than text.max_tokens = {most}: divide its lines into"
            " sentences, or give a larger --text.max-tokens"
        )
    kept = round(facts.kept * fits.mean())
    source_tokens, target_tokens = (lengths[:, fits].mean(1) * kept).tolist()
    characters = np.array([[len(each) for each in side] for side in (sources, targets)])
    source_share, target_share = characters[:, fits].sum(1) / characters.sum(1)
    too_long = {TOKENS: facts.kept - kept} if kept < facts.kept else {}
    return replace(
        facts,
        kept=kept,
        dropped=facts.dropped | too_long,
        source_characters=round(facts.source_characters * source_share),
        target_characters=round(facts.target_characters * target_share),
        source_tokens=round(source_tokens),
        target_tokens=round(target_tokens),
    )


def measure_sides(
    tokenizer: Tokenizer, sources: Sequence[str], targets: Sequence[str]
) -> npt.NDArray[np.int64]:
    """Return the numbers of tokens of some pairs, ``</s>`` included: [2, pairs], the sources first."""
    encoded = tokenizer.encode_source(sources), tokenizer.encode_target(targets)
    return np.array([[len(ids) for ids in side] for side in encoded])


def _spread_pairs(text: GivenText, fates: Fates, most: int) -> Iterator[tuple[str, str]]:
    """Yield at most so many kept pairs, which are spread over all; 0: all."""
    every = spread_step(int((fates == KEPT).sum()), most)
    return ((pair.source, pair.target) for pair in islice(text.read_kept(fates), 0, None, every))
