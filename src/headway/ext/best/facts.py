"""Facts about the text that a user gives, and whether it is enough for a vocabulary."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

import numpy as np
import numpy.typing as npt

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.best.given import GivenText
from headway.ext.best.pair_decisions import PairDecisions, number_of
from headway.text import KEPT, Decisions, Rule, Tokenizer, spread_step

SAMPLE = 10_000  # pairs, or monolingual lines, whose tokens are counted
MOST_DIGESTS = 200_000  # of monolingual lines that are held at once
BATCH = 1000  # lines that are tokenized at once

Encode = Callable[[Sequence[str]], list[list[int]]]


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
        mono_source: Different lines of monolingual text that are fit for training, about.
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

    @property
    def cleaned(self) -> int:
        """The kept pairs, and those that are too long to train on: as many choose the settings."""
        return self.kept + self.dropped.get(Rule.TOKENS, 0)

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


def look_at(text: GivenText) -> tuple[TextFacts, Decisions]:
    """Read all files once and count.

    Returns:
        The facts, and what becomes of each pair that breaks no rule.

    Raises:
        HeadwayError: If a file cannot be read, or there are too few pairs.
    """
    pairs = PairDecisions(text.held_out, drop_duplicates=text.rules.drop_duplicates)
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
    read, kept = pairs.report().read, int((decided.decisions == KEPT).sum())
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
    return facts, decided.decisions


def _count_lines(text: GivenText, files: Sequence[str]) -> tuple[int, int]:
    """Return about how many different lines of monolingual text are fit for training, and their characters.

    Of many lines those with small digests are counted: the memory does not grow with the text.
    """
    lengths: dict[int, int] = {}
    limit = 1 << 64
    for line in text.read_plain(files):
        if (number := number_of(line)) < limit:
            lengths[number] = len(line)
        if len(lengths) > MOST_DIGESTS:
            limit //= 2
            lengths = {number: length for number, length in lengths.items() if number < limit}
    if files and not lengths:
        raise HeadwayError(f"{files[0]}: no line is left after cleaning")
    times = (1 << 64) / limit
    return round(times * len(lengths)), round(times * sum(lengths.values()))


def learn_vocabulary(text: GivenText, decisions: Decisions, config: TextConfig) -> Tokenizer:
    """Learn the subwords as the first training does, so that none finds that there are too few.

    Args:
        text: The user's text.
        decisions: What becomes of its pairs; see `look_at`.
        config: The settings of the vocabulary.

    Raises:
        HeadwayError: If the text is too small for the vocabulary; it names the largest size.
    """
    return Tokenizer.learn(_spread_pairs(text, decisions, config.sample_lines), config)


def count_tokens(
    text: GivenText, facts: TextFacts, decisions: Decisions, tokenizer: Tokenizer, most: int
) -> TextFacts:
    """Return the facts with the numbers of tokens, by a sample, and without what is too long to train on.

    Args:
        text: The user's text.
        facts: From `look_at`.
        decisions: What becomes of its pairs; see `look_at`.
        tokenizer: From `learn_vocabulary`.
        most: Tokens of the longer side of a pair, and of a monolingual line.

    Raises:
        HeadwayError: If all pairs, or all lines of one language, are too long.
    """
    sources, targets = (
        list(side) for side in zip(*_spread_pairs(text, decisions, SAMPLE), strict=True)
    )
    lengths = measure_sides(tokenizer, sources, targets)
    fits = lengths.max(0) <= most
    if not fits.any():
        raise _explain_too_long(text.train[0], "every training pair", most)
    kept = round(facts.kept * fits.mean())
    source_tokens, target_tokens = (lengths[:, fits].mean(1) * kept).tolist()
    characters = np.array([[len(each) for each in side] for side in (sources, targets)])
    source_share, target_share = characters[:, fits].sum(1) / characters.sum(1)
    too_long = {Rule.TOKENS: facts.kept - kept} if kept < facts.kept else {}
    return replace(
        facts,
        **_count_short_lines(text, facts, "source", tokenizer.encode_source, most),
        **_count_short_lines(text, facts, "target", tokenizer.encode_target, most),
        kept=kept,
        dropped=facts.dropped | too_long,
        source_characters=round(facts.source_characters * source_share),
        target_characters=round(facts.target_characters * target_share),
        source_tokens=round(source_tokens),
        target_tokens=round(target_tokens),
    )


def _count_short_lines(
    text: GivenText, facts: TextFacts, side: Literal["source", "target"], encode: Encode, most: int
) -> dict[str, int]:
    """Return the fields of the facts about monolingual lines, for those that are short enough to train on."""
    files, lines = getattr(text, f"mono_{side}"), getattr(facts, f"mono_{side}")
    if not files:
        return {}
    limit = (1 << 64) * SAMPLE // max(SAMPLE, lines)
    sample = [*{line for line in text.read_plain(files) if number_of(line) < limit}]
    characters = np.array([len(line) for line in sample])
    fits = measure(encode, sample) <= most
    if not fits.any():
        raise _explain_too_long(files[0], "every line", most)
    share = characters[fits].sum() / characters.sum()
    return {
        f"mono_{side}": round(lines * fits.mean()),
        f"mono_{side}_characters": round(getattr(facts, f"mono_{side}_characters") * share),
    }


def _explain_too_long(file: str, what: str, most: int) -> HeadwayError:
    return HeadwayError(
        f"{file}: {what} is longer than text.max_tokens = {most}: divide its lines into sentences, or give a larger"
        " --text.max-tokens"
    )


def measure(encode: Encode, lines: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the numbers of tokens of some lines, ``</s>`` included."""
    starts = range(0, len(lines), BATCH)
    return np.array([len(ids) for n in starts for ids in encode(lines[n : n + BATCH])])


def measure_sides(
    tokenizer: Tokenizer, sources: Sequence[str], targets: Sequence[str]
) -> npt.NDArray[np.int64]:
    """Return the numbers of tokens of some pairs: [2, pairs], the sources first."""
    return np.array(
        [measure(tokenizer.encode_source, sources), measure(tokenizer.encode_target, targets)]
    )


def _spread_pairs(text: GivenText, decisions: Decisions, most: int) -> Iterator[tuple[str, str]]:
    """Yield at most so many kept pairs, which are spread over all; 0: all."""
    every = spread_step(int((decisions == KEPT).sum()), most)
    return (
        (pair.source, pair.target) for pair in islice(text.read_kept(decisions), 0, None, every)
    )
