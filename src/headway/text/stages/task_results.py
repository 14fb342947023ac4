"""What the tasks of a preparation do: each writes its result to a directory."""

import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np

from headway.errors import HeadwayError
from headway.tasks.ledger import Ledger, task_name
from headway.text.cleaning import Report, digest_held_out
from headway.text.groups import TextGroup
from headway.text.learning import learn_model, spread_step
from headway.text.lines import Damaged
from headway.text.readers import Pair, read_pairs, require_languages
from headway.text.stages import range_numbers, selection
from headway.text.stages.assembly import TokenizedGroup, assemble, join_reports
from headway.text.stages.clean_ranges import CleanRange, clean_range
from headway.text.stages.plan import Plan
from headway.text.stages.range_numbers import RangeNumbers
from headway.text.stages.raw_ranges import read_raw_range, remove_text, write_raw_range
from headway.text.stages.repeats import PlacesReader, find_duplicates, find_repeated_sides
from headway.text.stages.sampling import divide_sample
from headway.text.stages.token_ranges import write_token_range
from headway.text.tokenizer import Tokenizer
from headway.text.unreadable import require_readable

KEPT = "kept.json"  # the number of training pairs of each group
VOCABULARY = "vocabulary"  # the directory of a given tokenizer, in that of the ledger


class TaskResults:
    """Writes the results of tasks; `headway.text.stages.job` says which tasks there are.

    Args:
        plan: The text and the settings.
        ledger: Where the results of earlier stages are.
        numbers: Of the ranges and partitions.
    """

    def __init__(self, plan: Plan, ledger: Ledger, numbers: RangeNumbers) -> None:
        self._plan = plan
        self._ledger = ledger
        self._numbers = numbers

    def hold_out(self, _: int, directory: Path) -> None:
        """Read the validation and test text, and write their digests."""
        digests: set[bytes] = set()
        for number, group in enumerate(self._plan.groups):
            files = group.valid_files
            valid = list(self._read_all(files, group)) if files else []
            if files and not valid:
                raise HeadwayError(f"{files[0]}: holds no validation pairs")
            digests |= self._digest(valid)
            for paths in group.tests:
                digests |= self._digest(self._read_all(paths, group))
            selection.write_pairs(directory / f"valid-{number}.jsonl", valid)
        (directory / "digests").write_bytes(b"".join(sorted(digests)))

    def read(self, _: int, directory: Path) -> None:
        """Cut the training text into ranges."""
        plan, config = self._plan, self._plan.config
        limit = config.max_unreadable if config.drop_unreadable else 0
        counts: list[int] = []
        for group in plan.groups:
            read = self._scan(group.train, group)
            pairs = require_readable(read, group.codes, plan.form, limit)
            first_range = sum(counts)
            count = 0
            for first in pairs:
                text = chain([first], islice(pairs, plan.range_pairs - 1))
                name = task_name("raw", first_range + count)
                if self._ledger.is_done(name):  # by a process that was killed later
                    for _pair in text:
                        pass
                else:
                    with self._ledger.commit(name) as result:
                        write_raw_range(result, text)
                count += 1
            counts.append(count)
        (directory / range_numbers.FILE).write_text(json.dumps(counts))

    def clean(self, number: int, directory: Path) -> None:
        """Clean a range."""
        digests = (self._ledger.result("held-out") / "digests").read_bytes()
        held_out = {digests[at : at + 8] for at in range(0, len(digests), 8)}
        raw = self._ledger.result("raw", number)
        clean_range(
            directory,
            read_raw_range(raw),
            self._plan.config,
            held_out,
            with_sides=self._plan.holds_out,
        )

    def find_duplicates(self, number: int, directory: Path) -> None:
        """Find the pairs of a partition that occur before."""
        group, partition = self._numbers.list_partitions()[number]
        find_duplicates(directory / "places.npy", self._ranges(group), partition)

    def find_repeated(self, number: int, directory: Path) -> None:
        """Find the sides of a partition that occur in several pairs."""
        group, partition = self._numbers.list_partitions()[number]
        duplicates = self._places("duplicates", group)
        find_repeated_sides(
            directory / "places.npy", self._ranges(group), partition, duplicates.read
        )

    def select(self, _: int, directory: Path) -> None:
        """Decide which pairs are training text, and choose the validation text."""
        held_out: list[selection.HeldOut] = []
        for number, group in enumerate(self._plan.groups):
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
            is_alone = len(self._plan.groups) == 1
            held_out.append(selection.digest_held_out(valid, in_both_orders=not is_alone))
        kept = []
        for number, group in enumerate(self._plan.groups):
            place = directory / str(number)
            place.mkdir()
            ranges, duplicates = self._ranges(number), self._places("duplicates", number)
            kept.append(selection.write_fates(place, ranges, held_out, number, duplicates.read))
            if not kept[-1]:
                report = self._report(directory, number)
                reason = report.advice() or f"after cleaning: {report.summary()}"
                text = self._plan.layouts[number] or group.train[0]
                raise HeadwayError(f"{text}: no training pairs are left: {reason}")
        (directory / KEPT).write_text(json.dumps(kept))
        ranges = self._ranges()
        for number in range(len(ranges)):
            remove_text(self._ledger.result("raw", number))

    def learn(self, number: int, directory: Path) -> None:
        """Learn the subwords of a vocabulary."""
        config = self._plan.config
        sides = slice(0, 2) if config.joint_vocab else slice(number, number + 1)
        lines = (line for pair in self._sample() for line in pair[sides])
        languages = self._plan.target_languages if number == 0 else []
        (directory / "model").write_bytes(learn_model(lines, config, languages))

    def tokenize(self, number: int, directory: Path) -> None:
        """Write the tokens of a copy of a range."""
        copy, at = divmod(number, self._numbers.count)
        group = self._numbers.find_group(at)
        cleaned = CleanRange(self._ledger.result("clean", at))
        fates = self._read_fates(at)
        tokenizer = self._tokenizer(self._plan.groups[group])
        write_token_range(directory, cleaned, fates, tokenizer, self._plan.config, copy)

    def assemble(self, _: int, directory: Path) -> None:
        """Write the prepared directory."""
        count = self._numbers.count
        texts = []
        for number, group in enumerate(self._plan.groups):
            place = self._ledger.result("select" if group.holds_out else "held-out")
            valid = selection.read_pairs(place / f"valid-{number}.jsonl")
            ranges = [
                [
                    self._ledger.result("tokens", copy * count + at)
                    for at in self._numbers.of_group(number)
                ]
                for copy in range(self._plan.config.copies)
            ]
            texts.append(TokenizedGroup(self._tokenizer(group), valid, ranges))
        result = directory / "data"
        result.mkdir()
        assemble(result, self._plan, texts)

    # What the stages share.

    def _digest(self, pairs: Iterable[Pair]) -> set[bytes]:
        """Return the digests of validation or test text, also of the other direction if there are groups."""
        pairs = list(pairs)
        digests = digest_held_out(pairs)
        if len(self._plan.groups) > 1:
            digests |= digest_held_out(Pair(pair.target, pair.source, pair.line) for pair in pairs)
        return digests

    def _scan(self, paths: Sequence[str], group: TextGroup) -> Generator[Pair | Damaged]:
        pairs = read_pairs(paths, group.languages, strict=False, form=self._plan.form)
        return require_languages(pairs)

    def _read_all(self, paths: Sequence[str], group: TextGroup) -> Iterator[Pair]:
        """Read validation or test text, of which every line must be a pair or of other languages."""
        pairs = self._scan(paths, group)
        for pair in require_readable(pairs, group.codes, self._plan.form, limit=0):
            if not isinstance(pair, Damaged):
                yield pair

    def _ranges(self, group: int | None = None) -> list[CleanRange]:
        numbers = range(self._numbers.count) if group is None else self._numbers.of_group(group)
        return [CleanRange(self._ledger.result("clean", n)) for n in numbers]

    def _places(self, stage: str, group: int) -> PlacesReader:
        parts = self._numbers.list_partitions()
        numbers = sorted(n for n in self._ledger.list_done(stage) if parts[n][0] == group)
        return PlacesReader(
            [self._ledger.result(stage, number) / "places.npy" for number in numbers]
        )

    def _read_fates(self, number: int) -> selection.Fates:
        group = self._numbers.find_group(number)
        place = self._ledger.result("select") / str(group)
        return selection.read_fates(place, number - self._numbers.of_group(group).start)

    def _report(self, selected: Path, group: int) -> Report:
        """Return the report of a group, as it is before the subwords are learned."""
        reports = []
        for number, cleaned in enumerate(self._ranges(group)):
            fates = selection.read_fates(selected / str(group), number)
            texts = cleaned.all_pairs()
            reports.append(
                (
                    selection.report_cleaning(cleaned, fates, texts),
                    selection.report_held_out(cleaned, fates, texts),
                )
            )
        return join_reports(reports)

    def _sample(self) -> Iterator[tuple[str, str]]:
        """Yield pairs that are spread over the training text of each group, to learn subwords from."""
        kept = json.loads((self._ledger.result("select") / KEPT).read_bytes())
        size = self._plan.config.sample_lines
        sizes = divide_sample(kept, size) if size else kept
        for group, (count, wanted) in enumerate(zip(kept, sizes, strict=True)):
            every = spread_step(count, wanted)
            passed = 0
            for number in self._numbers.of_group(group):
                cleaned = CleanRange(self._ledger.result("clean", number))
                indices = np.flatnonzero(self._read_fates(number) == selection.KEPT)
                yield from cleaned.some_pairs(indices[-passed % every :: every])
                passed += len(indices)

    def _tokenizer(self, group: TextGroup) -> Tokenizer:
        """Return the tokenizer of a group: its sources begin with the symbol of the target language."""
        if self._plan.vocabulary:
            given = Tokenizer.load(self._ledger.directory / VOCABULARY)
            tokenizer = Tokenizer(*given.models[: 1 if given.joint else 2], threads=1)
        else:
            sides = range(1 if self._plan.config.joint_vocab else 2)
            models = [(self._ledger.result("learn", side) / "model").read_bytes() for side in sides]
            tokenizer = Tokenizer(*models, threads=1)
        return tokenizer.to(group.codes[1]) if self._plan.has_symbols else tokenizer
