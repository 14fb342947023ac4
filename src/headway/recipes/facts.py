"""Facts about the text that a user gives, and whether it is enough for a vocabulary."""

from dataclasses import dataclass
from itertools import islice

import numpy as np

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.recipes.given import GivenText
from headway.recipes.pair_fates import PairFates
from headway.text.learning import spread_step
from headway.text.stages.selection import KEPT, Fates
from headway.text.tokenizer import Tokenizer


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
        mono_source: Lines of monolingual text that are fit for training.
        mono_target: Likewise.
    """

    read: int
    kept: int
    dropped: dict[str, int]
    source_characters: int
    target_characters: int
    validation: int
    mono_source: int
    mono_target: int

    def describe(self) -> list[str]:
        """Return the facts in words, a line each."""
        lines = [
            f"{self.read:,} training pairs, {self.kept:,} of them kept; on average"
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
    mono = [
        sum(1 for _ in text.read_plain(files)) for files in (text.mono_source, text.mono_target)
    ]
    for files, count in zip((text.mono_source, text.mono_target), mono, strict=True):
        if files and not count:
            raise HeadwayError(f"{files[0]}: no line is left after cleaning")
    facts = TextFacts(
        read=read,
        kept=kept,
        dropped=pairs.count_dropped(decided),
        source_characters=int(lengths[0] * share),
        target_characters=int(lengths[1] * share),
        validation=validation,
        mono_source=mono[0],
        mono_target=mono[1],
    )
    return facts, decided.fates


def check_vocabulary(text: GivenText, fates: Fates, config: TextConfig) -> None:
    """Learn the subwords as the first training does, so that none finds that there are too few.

    Args:
        text: The user's text.
        fates: What becomes of its pairs; see `look_at`.
        config: The settings of the vocabulary.

    Raises:
        HeadwayError: If the text is too small for the vocabulary; it names the largest size.
    """
    every = spread_step(int((fates == KEPT).sum()), config.sample_lines)
    sample = islice(text.read_kept(fates), 0, None, every)
    Tokenizer.learn(((pair.source, pair.target) for pair in sample), config)
