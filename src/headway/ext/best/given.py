"""The text that a user gives: cleaned pairs, read as often as needed in constant memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from headway import config
from headway.config import TextConfig
from headway.errors import HeadwayError, UsageError
from headway.text import (
    KEPT,
    Damaged,
    Decisions,
    FileForm,
    Pair,
    Rule,
    broken_rule,
    digest_loosely,
    read_pairs,
    require_readable,
    scan_lines,
)


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
        encoding: Of files that are not UTF-8.
        columns: Of tables.
        settings: Settings that all trainings have.
        test: Test text, likewise, whose pairs no training may see.
        teacher: Translations of the training sources by another system, a line for each pair.
        mono_source: Plain text in the source language.
        mono_target: Plain text in the target language.
    """

    train: Sequence[str]
    valid: Sequence[str] | int
    languages: tuple[str, str]
    encoding: str | None = None
    columns: Sequence[str] | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    test: Sequence[str] = ()
    teacher: str | None = None
    mono_source: Sequence[str] = ()
    mono_target: Sequence[str] = ()

    @cached_property
    def form(self) -> FileForm:
        """The form of the files."""
        columns = (self.columns[0], self.columns[1]) if self.columns else None
        return FileForm(self.encoding, columns)

    @cached_property
    def rules(self) -> TextConfig:
        """The cleaning rules."""
        text = {name: v for name, v in self.settings.items() if name.startswith("text.")}
        return config.load(overrides=text).text

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
            others = chain(self.read_validation(), self.read_test())
            held_out = {digest_loosely(pair.source, pair.target)[0] for pair in others}
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
                yield CleanedPair("", "", "", Rule.UNREADABLE)
                continue
            source, target, line = pair.source.strip(), pair.target.strip(), line.strip()
            rule = broken_rule(source, target, self.rules)
            if rule is None and held_out:
                # A training sees the pair of the source and the teacher's line, too.
                sides = (target, line) if teacher else (target,)
                if any(digest_loosely(source, side)[0] in held_out for side in sides):
                    rule = Rule.LEAK
            yield CleanedPair(source, target, line, rule)
        if teacher:
            lines = count if line is not None else sum(1 for _ in self._read_teacher())
            lines += sum(1 for _ in teacher)
            if lines != count:
                raise HeadwayError(
                    f"{self.teacher} has {lines:,} lines, but the training text has {count:,} pairs: line n"
                    " must be a translation of pair n"
                )

    def read_fit(self) -> Iterator[CleanedPair]:
        """Read the pairs of the training text that break no rule."""
        return (pair for pair in self.read_training() if pair.rule is None)

    def read_kept(self, decisions: Decisions) -> Iterator[CleanedPair]:
        """Read the pairs that are kept as training text.

        Args:
            decisions: Of the pairs of `read_fit`.
        """
        for decision, pair in zip(decisions, self.read_fit(), strict=True):
            if decision == KEPT:
                yield pair

    def _read_teacher(self) -> Iterator[str]:
        assert self.teacher
        lines = scan_lines(self.teacher, self.form.encoding)
        for line in require_readable(lines, self.languages, self.form, limit=0):
            assert isinstance(line, str)  # the first damaged line is an error
            yield line


def check_files(text: GivenText) -> None:
    """Check that all files can be read several times.

    Raises:
        UsageError: If one is a directory, a pipe, or the like.
    """
    for path in map(Path, text.files()):
        if path.is_dir():
            raise UsageError(f"{path}: is a directory: give a file")
        if not path.is_file() and (path.name == "-" or path.exists()):
            raise UsageError(
                f"{path}: text is read several times, which a pipe cannot be: give a file"
            )
