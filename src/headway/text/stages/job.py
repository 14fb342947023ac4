"""The tasks of a preparation, and what each of them needs.

| stage | tasks | result |
|---|---|---|
| held-out | 1 | digests of the validation and test text |
| read | 1 | the training text, cut into ranges: ``raw/N`` |
| clean | one a range | the pairs that break no rule by themselves, and their digests |
| duplicates | one a partition | pairs that occur before |
| repeated | one a partition | sides that occur in several pairs, if validation text is held out |
| select | 1 | which pairs are training text, and the validation text |
| learn | 1, or 2 for two vocabularies | the subwords |
| tokens | one a range and copy | token ids |
| assemble | 1 | the prepared directory |
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from headway.errors import HeadwayError
from headway.tasks.ledger import Ledger, task_name
from headway.tasks.work import Task
from headway.text.cleaning import Report, digest_held_out
from headway.text.learning import learn_model
from headway.text.lines import Damaged
from headway.text.readers import Pair, read_pairs
from headway.text.stages import selection
from headway.text.stages.assembly import assemble, join_reports
from headway.text.stages.clean_ranges import CleanRange, clean_range
from headway.text.stages.plan import Plan
from headway.text.stages.raw_ranges import read_raw_range, remove_text, write_raw_range
from headway.text.stages.repeats import (
    count_partitions,
    find_duplicates,
    find_repeated_sides,
    read_places,
)
from headway.text.stages.token_ranges import write_token_range
from headway.text.tokenizer import Tokenizer
from headway.text.unreadable import require_readable

VOCABULARY = "vocabulary"  # the directory of a given tokenizer, in that of the ledger

Stage = Callable[[int, Path], None]  # writes the result of a task, by its number, to a directory


class PreparationJob:
    """A preparation as a `headway.tasks.work.Job`.

    Args:
        plan: The text and the settings.
        ledger: Where the results are.
        can_read: Whether this process may read the training text; only one may read standard input.
    """

    def __init__(self, plan: Plan, ledger: Ledger, *, can_read: bool = True) -> None:
        self._plan = plan
        self._ledger = ledger
        self._can_read = can_read
        self._finished: set[str] = set()  # stages, of which all tasks are finished

    @property
    def is_complete(self) -> bool:
        """Whether the prepared directory is written."""
        return self._ledger.is_done(task_name("assemble"))

    @property
    def result(self) -> Path:
        """The prepared directory, which need not exist."""
        return self._ledger.result("assemble") / "data"

    def list_ready(self) -> list[Task]:
        """Return the unfinished tasks whose inputs are there."""
        for tasks in self._stages():
            if tasks:
                return (
                    tasks if self._can_read else [t for t in tasks if t.name != task_name("read")]
                )
        return []

    def count_tasks(self) -> tuple[int, int, int]:
        """Return how many tasks are finished, how many there are as far as is known, and the pairs read."""
        done = self._ledger.list_done
        ranges = len(done("raw"))
        partitions = count_partitions(ranges)
        numbers = {
            "held-out": 1,
            "read": 1,
            "clean": ranges,
            "duplicates": partitions if self._plan.config.drop_duplicates else 0,
            "repeated": partitions if self._plan.holds_out else 0,
            "select": 1,
            "learn": self._count_learned(),
            "tokens": ranges * self._plan.config.copies,
            "assemble": 1,
        }
        finished = sum(len(done(stage)) for stage, count in numbers.items() if count)
        return finished, sum(numbers.values()), ranges * self._plan.range_pairs

    def _stages(self) -> Iterator[list[Task]]:
        """Yield the unfinished tasks of each stage; the next stage needs all of them."""
        plan = self._plan
        yield self._unfinished("held-out", 1, self._hold_out)
        reading = self._unfinished("read", 1, self._read)
        # Ranges are cleaned while the rest of the text is read.
        yield (
            self._unfinished("clean", self._count_raw(), self._clean, is_last=not reading) + reading
        )
        ranges = self._count_raw()
        partitions = count_partitions(ranges)
        if plan.config.drop_duplicates:
            yield self._unfinished("duplicates", partitions, self._find_duplicates)
        if plan.holds_out:
            yield self._unfinished("repeated", partitions, self._find_repeated)
        yield self._unfinished("select", 1, self._select)
        yield self._unfinished("learn", self._count_learned(), self._learn)
        yield self._unfinished("tokens", ranges * plan.config.copies, self._tokenize)
        yield self._unfinished("assemble", 1, self._assemble)

    def _count_learned(self) -> int:
        """Return the number of vocabularies to learn."""
        return 0 if self._plan.vocabulary else 1 if self._plan.config.joint_vocab else 2

    def _unfinished(
        self, stage: str, count: int, run: Stage, *, is_last: bool = True
    ) -> list[Task]:
        if stage in self._finished:
            return []
        done = self._ledger.list_done(stage)
        tasks = [
            Task(task_name(stage, number), partial(run, number))
            for number in range(count)
            if number not in done
        ]
        if not tasks and is_last:
            self._finished.add(stage)
        return tasks

    # Each of the following methods is a stage: it writes the result of a task to a directory.

    def _hold_out(self, _: int, directory: Path) -> None:
        plan = self._plan
        valid = list(self._read_all(plan.valid_files)) if plan.valid_files else []
        if plan.valid_files and not valid:
            raise HeadwayError(f"{plan.valid_files[0]}: holds no validation pairs")
        digests = digest_held_out(valid)
        for paths in plan.tests:
            digests |= digest_held_out(self._read_all(paths))
        (directory / "digests").write_bytes(b"".join(sorted(digests)))
        selection.write_pairs(directory / "valid.jsonl", valid)

    def _read(self, _: int, directory: Path) -> None:
        plan, config = self._plan, self._plan.config
        read = read_pairs(plan.train, plan.languages, strict=False, form=plan.form)
        limit = config.max_unreadable if config.drop_unreadable else 0
        pairs = require_readable(read, plan.codes, plan.form, limit)
        number = 0
        for first in pairs:
            text = chain([first], islice(pairs, plan.range_pairs - 1))
            name = task_name("raw", number)
            if self._ledger.is_done(name):  # by a process that was killed later
                for _pair in text:
                    pass
            else:
                with self._ledger.commit(name) as result:
                    write_raw_range(result, text)
            number += 1
        (directory / "ranges.json").write_text(json.dumps(number))

    def _clean(self, number: int, directory: Path) -> None:
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

    def _find_duplicates(self, number: int, directory: Path) -> None:
        find_duplicates(directory / "places.npy", self._ranges(), number)

    def _find_repeated(self, number: int, directory: Path) -> None:
        find_repeated_sides(directory / "places.npy", self._ranges(), number, self._read_duplicates)

    def _select(self, _: int, directory: Path) -> None:
        ranges = self._ranges()
        chosen: list[selection.ChosenPair] = []
        if self._plan.holds_out and any(len(cleaned) for cleaned in ranges):
            repeated = partial(read_places, self._places("repeated"))
            chosen = selection.choose_validation(
                ranges, self._plan.held_out, self._read_duplicates, repeated
            )
            valid = selection.read_chosen(ranges, chosen)
            selection.write_pairs(directory / "valid.jsonl", valid)
        kept = selection.write_fates(directory, ranges, chosen, self._read_duplicates)
        if not kept:
            report = self._report(directory)
            raise HeadwayError(
                f"{self._plan.train[0]}: no training pairs are left after cleaning: {report.summary()}"
            )
        (directory / "kept.json").write_text(json.dumps(kept))
        for number in range(len(ranges)):
            remove_text(self._ledger.result("raw", number))

    def _learn(self, number: int, directory: Path) -> None:
        config = self._plan.config
        sides = slice(0, 2) if config.joint_vocab else slice(number, number + 1)
        lines = (line for pair in self._sample() for line in pair[sides])
        (directory / "model").write_bytes(learn_model(lines, config))

    def _tokenize(self, number: int, directory: Path) -> None:
        copy, at = divmod(number, self._count_raw())
        cleaned = CleanRange(self._ledger.result("clean", at))
        fates = selection.read_fates(self._ledger.result("select"), at)
        write_token_range(directory, cleaned, fates, self._tokenizer(), self._plan.config, copy)

    def _assemble(self, _: int, directory: Path) -> None:
        count = self._count_raw()
        copies = self._plan.config.copies
        place = "select" if self._plan.holds_out else "held-out"
        result = directory / "data"
        result.mkdir()
        assemble(
            result,
            self._plan,
            self._tokenizer(),
            selection.read_pairs(self._ledger.result(place) / "valid.jsonl"),
            [self._ledger.result("tokens", n) for n in range(count * copies)],
            count,
        )

    # What the stages share.

    def _read_all(self, paths: Sequence[str]) -> Iterator[Pair]:
        """Read validation or test text, of which every line must be a pair."""
        plan = self._plan
        pairs = read_pairs(paths, plan.languages, strict=False, form=plan.form)
        for pair in require_readable(pairs, plan.codes, plan.form, limit=0):
            assert not isinstance(pair, Damaged), "with limit 0, an unreadable line is an error"
            yield pair

    def _count_raw(self) -> int:
        """Return the number of ranges that are read so far."""
        if self._ledger.is_done(task_name("read")):  # a list of files may be older, on a network
            return int(json.loads((self._ledger.result("read") / "ranges.json").read_bytes()))
        return len(self._ledger.list_done("raw"))

    def _ranges(self) -> list[CleanRange]:
        return [CleanRange(self._ledger.result("clean", n)) for n in range(self._count_raw())]

    def _places(self, stage: str) -> list[Path]:
        numbers = sorted(self._ledger.list_done(stage))
        return [self._ledger.result(stage, number) / "places.npy" for number in numbers]

    def _read_duplicates(self, number: int) -> npt.NDArray[np.int64]:
        return read_places(self._places("duplicates"), number)

    def _report(self, selected: Path) -> Report:
        """Return the report of all ranges, as it is before the subwords are learned."""
        reports = []
        for number, cleaned in enumerate(self._ranges()):
            fates = selection.read_fates(selected, number)
            texts = cleaned.all_pairs()
            reports.append(
                (
                    selection.report_cleaning(cleaned, fates, texts),
                    selection.report_held_out(cleaned, fates, texts),
                )
            )
        return join_reports(reports)

    def _sample(self) -> Iterator[tuple[str, str]]:
        """Yield pairs that are spread over the training text, to learn subwords from."""
        select = self._ledger.result("select")
        kept = int(json.loads((select / "kept.json").read_bytes()))
        size = self._plan.config.sample_lines
        every = -(-kept // size) if size else 1
        passed = 0
        for number, cleaned in enumerate(self._ranges()):
            indices = np.flatnonzero(selection.read_fates(select, number) == selection.KEPT)
            yield from cleaned.some_pairs(indices[-passed % every :: every])
            passed += len(indices)

    def _tokenizer(self) -> Tokenizer:
        if self._plan.vocabulary:
            given = Tokenizer.load(self._ledger.directory / VOCABULARY)
            return Tokenizer(*given.models[: 1 if given.joint else 2], threads=1)
        sides = range(1 if self._plan.config.joint_vocab else 2)
        models = [(self._ledger.result("learn", side) / "model").read_bytes() for side in sides]
        return Tokenizer(*models, threads=1)
