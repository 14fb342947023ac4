"""The stages of a preparation, and what each writes.

| stage | chunks | result of a chunk |
|---|---|---|
| held-out | 1 | digests of the validation and test text |
| clean | one a range of the text | the pairs that break no rule by themselves, and their digests |
| duplicates | one a partition and group | pairs that occur before |
| repeated | one a partition and group | sides that occur in several pairs, if validation text is held out |
| select | 1 | which pairs are training text, and the validation text |
| learn | 1, or 2 for two vocabularies | the subwords |
| tokens | one a range and copy | token ids |
| assemble | 1 | the prepared directory |

Most kinds of text can only be read in order (compressed files, tables, standard input), so one process reads it and
hands each range to those that clean.
"""

import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from headway.errors import HeadwayError
from headway.files import replace_text
from headway.text.chunks import Stage, find_result
from headway.text.cleaning import Report, digest_held_out
from headway.text.groups import TextGroup
from headway.text.learning import divide_sample, learn_model, spread_step
from headway.text.lines import Damaged
from headway.text.preparation import selection
from headway.text.preparation.assembly import (
    TokenizedGroup,
    assemble,
    join_reports,
    write_token_range,
)
from headway.text.preparation.clean_ranges import CleanRange, clean_range
from headway.text.preparation.plan import Plan
from headway.text.preparation.repeats import (
    PlacesReader,
    count_partitions,
    find_duplicates,
    find_repeated_sides,
)
from headway.text.readers import Pair, read_pairs, require_readable
from headway.text.tokenizer import Tokenizer

KEPT = "kept.json"  # the number of training pairs of each group
RANGES = "ranges.json"  # how many ranges each group has
Range = list[Pair | Damaged]


@dataclass(frozen=True)
class PreparationStages:
    """The stages of a preparation.

    Attributes:
        plan: The text and the settings.
        vocabulary: The models of a given tokenizer; empty: the subwords are learned.
        directory: Where the results of earlier stages are.
    """

    plan: Plan
    vocabulary: tuple[bytes, ...]
    directory: Path

    def list_stages(self) -> Iterator[Stage]:
        """Yield each stage when the results of the stages before it are there."""
        config = self.plan.config
        yield Stage("held-out", [0], self.hold_out, is_local=True)
        yield Stage("clean", [] if self._is_clean() else self._read_ranges(), self.clean)
        ranges, partitions = sum(self._count_ranges()), range(len(self._list_partitions()))
        if config.drop_duplicates:
            yield Stage("duplicates", partitions, self.find_duplicates)
        if self.plan.holds_out:
            yield Stage("repeated", partitions, self.find_repeated)
        yield Stage("select", [0], self.select)
        if not self.vocabulary:
            yield Stage("learn", range(1 if config.joint_vocab else 2), self.learn)
        yield Stage("tokens", range(ranges * config.copies), self.tokenize)
        yield Stage("assemble", [0], self.assemble)

    @property
    def result(self) -> Path:
        """The prepared directory, after the last stage."""
        return self._result("assemble") / "data"

    def hold_out(self, _: int, directory: Path) -> None:
        """Read the validation and test text, and write their digests."""
        digests: set[bytes] = set()
        for number, group in enumerate(self.plan.groups):
            files = group.valid
            valid = list(self._read_all(files, group)) if files else []
            if files and not valid:
                raise HeadwayError(f"{files[0]}: holds no validation pairs")
            digests |= self._digest(valid)
            for paths in group.tests:
                digests |= self._digest(self._read_all(paths, group))
            selection.write_pairs(directory / f"valid-{number}.jsonl", valid)
        (directory / "digests").write_bytes(b"".join(sorted(digests)))

    def clean(self, text: Range, directory: Path) -> None:
        """Clean a range."""
        digests = (self._result("held-out") / "digests").read_bytes()
        held_out = {digests[at : at + 8] for at in range(0, len(digests), 8)}
        clean_range(directory, text, self.plan.config, held_out, with_sides=self.plan.holds_out)

    def find_duplicates(self, number: int, directory: Path) -> None:
        """Find the pairs of a partition that occur before."""
        group, partition = self._list_partitions()[number]
        find_duplicates(directory / "places.npy", self._ranges(group), partition)

    def find_repeated(self, number: int, directory: Path) -> None:
        """Find the sides of a partition that occur in several pairs."""
        group, partition = self._list_partitions()[number]
        duplicates = self._places("duplicates", group)
        find_repeated_sides(
            directory / "places.npy", self._ranges(group), partition, duplicates.read
        )

    def select(self, _: int, directory: Path) -> None:
        """Decide which pairs are training text, and choose the validation text."""
        held_out: list[selection.HeldOut] = []
        for number, group in enumerate(self.plan.groups):
            ranges = self._ranges(number)
            chosen: list[selection.ChosenPair] = []
            if group.holds_out and any(len(cleaned) for cleaned in ranges):
                duplicates = self._places("duplicates", number)
                repeated = self._places("repeated", number)
                chosen = selection.choose_validation(
                    ranges, group.held_out, duplicates.read, repeated.read
                )
            valid = selection.read_chosen(ranges, chosen)
            selection.write_pairs(directory / f"valid-{number}.jsonl", valid)
            is_alone = len(self.plan.groups) == 1
            held_out.append(selection.digest_held_out(valid, in_both_orders=not is_alone))
        kept = []
        for number, group in enumerate(self.plan.groups):
            place = directory / str(number)
            place.mkdir()
            ranges, duplicates = self._ranges(number), self._places("duplicates", number)
            kept.append(selection.write_decisions(place, ranges, held_out, number, duplicates.read))
            if not kept[-1]:
                report = self._report(directory, number)
                reason = report.advice() or f"after cleaning: {report.summary()}"
                text = self.plan.layouts[number] or group.train[0]
                raise HeadwayError(f"{text}: no training pairs are left: {reason}")
        (directory / KEPT).write_text(json.dumps(kept))

    def learn(self, number: int, directory: Path) -> None:
        """Learn the subwords of a vocabulary."""
        config = self.plan.config
        sides = slice(0, 2) if config.joint_vocab else slice(number, number + 1)
        lines = (line for pair in self._sample() for line in pair[sides])
        languages = self.plan.target_languages if number == 0 else []
        (directory / "model").write_bytes(learn_model(lines, config, languages))

    def tokenize(self, number: int, directory: Path) -> None:
        """Write the tokens of a copy of a range."""
        copy, at = divmod(number, sum(self._count_ranges()))
        group = self._find_group(at)
        cleaned = CleanRange(self._result("clean", at))
        decisions = self._read_decisions(at)
        tokenizer = self._tokenizer(self.plan.groups[group])
        write_token_range(directory, cleaned, decisions, tokenizer, self.plan.config, copy)

    def assemble(self, _: int, directory: Path) -> None:
        """Write the prepared directory."""
        count = sum(self._count_ranges())
        texts = []
        for number, group in enumerate(self.plan.groups):
            place = self._result("select" if group.holds_out else "held-out")
            valid = selection.read_pairs(place / f"valid-{number}.jsonl")
            ranges = [
                [self._result("tokens", copy * count + at) for at in self._ranges_of(number)]
                for copy in range(self.plan.config.copies)
            ]
            texts.append(TokenizedGroup(self._tokenizer(group), valid, ranges))
        result = directory / "data"
        result.mkdir()
        assemble(result, self.plan, texts)

    # What the stages share.

    def _digest(self, pairs: Iterable[Pair]) -> set[bytes]:
        """Return the digests of validation or test text, also of the other direction if there are groups."""
        pairs = list(pairs)
        digests = digest_held_out(pairs)
        if len(self.plan.groups) > 1:
            digests |= digest_held_out(Pair(pair.target, pair.source, pair.line) for pair in pairs)
        return digests

    def _scan(self, paths: Sequence[str], group: TextGroup) -> Generator[Pair | Damaged]:
        return read_pairs(paths, group.languages, strict=False, form=self.plan.form)

    def _read_all(self, paths: Sequence[str], group: TextGroup) -> Iterator[Pair]:
        """Read validation or test text, of which every line must be a pair or of other languages."""
        pairs = self._scan(paths, group)
        for pair in require_readable(pairs, group.codes, self.plan.form, limit=0):
            if not isinstance(pair, Damaged):
                yield pair

    def _read_ranges(self) -> Iterator[Range]:
        """Yield the training text, range by range, and write how many ranges each group has."""
        config, counts = self.plan.config, list[int]()
        limit = config.max_unreadable if config.drop_unreadable else 0
        for group in self.plan.groups:
            read = self._scan(group.train, group)
            pairs = require_readable(read, group.codes, self.plan.form, limit)
            counts.append(0)
            while text := list(islice(pairs, self.plan.range_pairs)):
                yield text
                counts[-1] += 1
        replace_text(self.directory / RANGES, json.dumps(counts))

    def _is_clean(self) -> bool:
        """Return whether all text was read and cleaned before an interruption."""
        return (self.directory / RANGES).exists() and all(
            self._result("clean", number).is_dir() for number in range(sum(self._count_ranges()))
        )

    def _count_ranges(self) -> list[int]:
        """Return how many ranges each group has; all text is read."""
        counts: list[int] = json.loads((self.directory / RANGES).read_bytes())
        return counts

    def _ranges_of(self, group: int) -> range:
        """Return the numbers of the ranges of a group: they follow those of the group before."""
        counts = self._count_ranges()
        first = sum(counts[:group])
        return range(first, first + counts[group])

    def _find_group(self, number: int) -> int:
        """Return the group of a range."""
        return next(g for g in range(len(self.plan.groups)) if number in self._ranges_of(g))

    def _list_partitions(self) -> list[tuple[int, int]]:
        """Return the partitions of the digests of each group: a group, and a number in it."""
        counts = enumerate(self._count_ranges())
        return [(group, n) for group, count in counts for n in range(count_partitions(count))]

    def _ranges(self, group: int) -> list[CleanRange]:
        return [CleanRange(self._result("clean", n)) for n in self._ranges_of(group)]

    def _places(self, stage: str, group: int) -> PlacesReader:
        """Return what a stage that compares digests has found; nothing if there is no such stage."""
        places = [n for n, (g, _) in enumerate(self._list_partitions()) if g == group]
        files = [self._result(stage, number) / "places.npy" for number in places]
        return PlacesReader(files if (self.directory / stage).is_dir() else [])

    def _read_decisions(self, number: int) -> selection.Decisions:
        group = self._find_group(number)
        place = self._result("select") / str(group)
        return selection.read_decisions(place, number - self._ranges_of(group).start)

    def _report(self, selected: Path, group: int) -> Report:
        """Return the report of a group, as it is before the subwords are learned."""
        reports = []
        for number, cleaned in enumerate(self._ranges(group)):
            decisions = selection.read_decisions(selected / str(group), number)
            texts = cleaned.all_pairs()
            reports.append(
                (
                    selection.report_cleaning(cleaned, decisions, texts),
                    selection.report_held_out(cleaned, decisions, texts),
                )
            )
        return join_reports(reports)

    def _sample(self) -> Iterator[tuple[str, str]]:
        """Yield pairs that are spread over the training text of each group, to learn subwords from."""
        kept = json.loads((self._result("select") / KEPT).read_bytes())
        size = self.plan.config.sample_lines
        sizes = divide_sample(kept, size) if size else kept
        for group, (count, wanted) in enumerate(zip(kept, sizes, strict=True)):
            every = spread_step(count, wanted)
            passed = 0
            for number in self._ranges_of(group):
                cleaned = CleanRange(self._result("clean", number))
                indices = np.flatnonzero(self._read_decisions(number) == selection.KEPT)
                yield from cleaned.some_pairs(indices[-passed % every :: every])
                passed += len(indices)

    def _tokenizer(self, group: TextGroup) -> Tokenizer:
        """Return the tokenizer of a group: its sources begin with the symbol of the target language."""
        models = self.vocabulary
        if not models:
            sides = range(1 if self.plan.config.joint_vocab else 2)
            models = tuple((self._result("learn", side) / "model").read_bytes() for side in sides)
        tokenizer = Tokenizer(*models, threads=1)
        return tokenizer.to(group.codes[1]) if self.plan.has_symbols else tokenizer

    def _result(self, stage: str, number: int = 0) -> Path:
        return find_result(self.directory / stage, number)
