"""The text that a user gives: cleaned pairs, read as often as needed in constant memory, and facts about them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from headway.config import TextConfig
from headway.errors import HeadwayError, UsageError
from headway.recipes.pair_fates import PairFates
from headway.text.cleaning import LEAK, UNREADABLE, broken_rule, digest_held_out
from headway.text.digests import digest_loosely
from headway.text.lines import Damaged, scan_lines
from headway.text.readers import UTF8, FileForm, Pair, read_pairs
from headway.text.stages.selection import KEPT
from headway.text.tokenizer import Tokenizer
from headway.text.unreadable import require_readable


class CleanedPair(NamedTuple):
    """A pair of the training text.

    Attributes:
        source: Without white space around it.
        target: Likewise.
        teacher: The line of the teacher's translations; empty: there are none.
        rule: The cleaning rule that the pair breaks; None: it is fit for training.
    """

    source: str
    target: str
    teacher: str
    rule: str | None


@dataclass(frozen=True, kw_only=True)
class GivenText:
    """The files of a user.

    Attributes:
        train: Training text: see `headway.text.readers.read_pairs`.
        valid: Validation text, likewise; or the number of pairs to hold out.
        languages: Codes of source and target.
        form: The encoding of files that are not UTF-8, and the columns of tables.
        rules: The cleaning rules.
        test: Test text, likewise, whose pairs no training may see.
        teacher: Translations of the training sources by another system, a line for each pair.
        mono_source: Plain text in the source language.
        mono_target: Plain text in the target language.
    """

    train: Sequence[str]
    valid: Sequence[str] | int
    languages: tuple[str, str]
    form: FileForm = UTF8
    rules: TextConfig = field(default_factory=TextConfig)
    test: Sequence[str] = ()
    teacher: str | None = None
    mono_source: Sequence[str] = ()
    mono_target: Sequence[str] = ()

    @property
    def held_out(self) -> int | None:
        """The number of pairs to hold out of the training text; None: there are validation files."""
        return self.valid if isinstance(self.valid, int) else None

    def files(self) -> list[str]:
        """Return the names of all files."""
        return [*self.text_files(), *self.mono_source, *self.mono_target]

    def text_files(self) -> list[str]:
        """Return the names of the files with pairs, and of the teacher's."""
        valid = () if isinstance(self.valid, int) else self.valid
        teacher = [self.teacher] if self.teacher else []
        return [*self.train, *valid, *self.test, *teacher]

    def read_validation(self) -> Iterator[Pair]:
        """Read the validation files; there are none if the pairs are held out."""
        if not isinstance(self.valid, int):
            yield from read_pairs(self.valid, self.languages, form=self.form)

    def read_test(self) -> Iterator[Pair]:
        """Read the test files, if there are any."""
        if self.test:
            yield from read_pairs(self.test, self.languages, form=self.form)

    def read_plain(self, files: Sequence[str]) -> Iterator[str]:
        """Read the lines of monolingual text that are fit for training.

        Raises:
            HeadwayError: If many lines of a file cannot be read.
        """
        alone = replace(self.rules, drop_identical=False, max_copied=0.0, max_ratio=0.0)
        for file in files:
            lines = require_readable(
                scan_lines(file, self.form.encoding), self.languages, self.form, self.rules.max_unreadable, "lines"
            )  # fmt: skip
            for line in lines:
                if isinstance(line, str) and broken_rule(line.strip(), line.strip(), alone) is None:
                    yield line.strip()

    def read_training(self) -> Iterator[CleanedPair]:
        """Read the training text with the rule that each pair breaks; duplicates are not looked for.

        Raises:
            HeadwayError: If a file cannot be read, or the teacher has not as many lines as there are pairs.
        """
        held_out = set()
        if self.rules.drop_leaks:
            held_out = digest_held_out(chain(self.read_validation(), self.read_test()))
        teacher = self._read_teacher() if self.teacher else None
        count = 0
        line: str | None = ""
        pairs = read_pairs(self.train, self.languages, strict=False, form=self.form)
        for pair in require_readable(pairs, self.languages, self.form, self.rules.max_unreadable):
            count += 1
            line = next(teacher, None) if teacher else ""
            if line is None:
                continue  # the message has the number of all pairs
            if isinstance(pair, Damaged):
                yield CleanedPair("", "", "", UNREADABLE)
                continue
            source, target, line = pair.source.strip(), pair.target.strip(), line.strip()
            rule = broken_rule(source, target, self.rules)
            if rule is None and held_out:
                # A training sees the pair of the source and the teacher's line, too.
                sides = (target, line) if teacher else (target,)
                if any(digest_loosely(source, side)[0] in held_out for side in sides):
                    rule = LEAK
            yield CleanedPair(source, target, line, rule)
        if teacher:
            lines = count if line is not None else sum(1 for _ in self._read_teacher())
            lines += sum(1 for _ in teacher)
            if lines != count:
                raise HeadwayError(
                    f"{self.teacher} has {lines:,} lines, but the training text has {count:,} pairs: line n"
                    " must be a translation of pair n"
                )

    def _read_teacher(self) -> Iterator[str]:
        assert self.teacher
        lines = scan_lines(self.teacher, self.form.encoding)
        for line in require_readable(lines, self.languages, self.form, limit=0):
            assert isinstance(line, str)  # the first damaged line is an error
            yield line


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


def check_files(text: GivenText) -> None:
    """Check that all files can be read several times.

    Raises:
        UsageError: If one is a pipe, or the like.
    """
    for path in map(Path, text.files()):
        if not path.is_file() and (path.name == "-" or path.exists()):
            raise UsageError(
                f"{path}: text is read several times, which a pipe cannot be: give a file"
            )


def check_vocabulary(text: GivenText, config: TextConfig) -> None:
    """Learn the subwords of a small text, so that no training finds that there are too few.

    Raises:
        HeadwayError: If the text is too small for the vocabulary; it names the largest size.
    """
    Tokenizer.learn(
        ((pair.source, pair.target) for pair in text.read_training() if pair.rule is None), config
    )


def look_at(text: GivenText) -> TextFacts:
    """Read all files once and count.

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
    kept = int((decided.fates == KEPT).sum())
    if not isinstance(text.valid, int) and not validation:
        raise HeadwayError(f"{text.valid[0]}: has no pairs: give validation text")
    if not kept:
        rules = ", ".join(f"{n:,}: {rule}" for rule, n in pairs.count_dropped(decided).items())
        why = (
            pairs.report().advice()
            or f"none of {pairs.report().read:,} training pairs is left ({rules})"
        )
        raise HeadwayError(f"{text.train[0]}: {why}")
    share = kept / len(pairs)
    mono = [
        sum(1 for _ in text.read_plain(files)) for files in (text.mono_source, text.mono_target)
    ]
    for files, count in zip((text.mono_source, text.mono_target), mono, strict=True):
        if files and not count:
            raise HeadwayError(f"{files[0]}: no line is left after cleaning")
    return TextFacts(
        read=pairs.report().read,
        kept=kept,
        dropped=pairs.count_dropped(decided),
        source_characters=int(lengths[0] * share),
        target_characters=int(lengths[1] * share),
        validation=validation,
        mono_source=mono[0],
        mono_target=mono[1],
    )
