"""The tasks of a preparation, and what each of them needs.

| stage | tasks | result |
|---|---|---|
| held-out | 1 | digests of the validation and test text |
| read | 1 | the training text, cut into ranges: ``raw/N`` |
| clean | one a range | the pairs that break no rule by themselves, and their digests |
| duplicates | one a partition and group | pairs that occur before |
| repeated | one a partition and group | sides that occur in several pairs, if validation text is held out |
| select | 1 | which pairs are training text, and the validation text |
| learn | 1, or 2 for two vocabularies | the subwords |
| tokens | one a range and copy | token ids |
| assemble | 1 | the prepared directory |
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from headway.tasks.ledger import Ledger, task_name
from headway.tasks.work import Task
from headway.text.stages.plan import Plan
from headway.text.stages.range_numbers import RangeNumbers
from headway.text.stages.task_results import TaskResults

READING = (task_name("held-out"), task_name("read"))  # tasks that read the user's text
Stage = Callable[[int, Path], None]  # writes the result of a task, by its number, to a directory


class PreparationJob:
    """A preparation as a `headway.tasks.work.Job`.

    Args:
        plan: The text and the settings.
        ledger: Where the results are.
        can_read: Whether this process may read the text; only one may read standard input.
    """

    def __init__(self, plan: Plan, ledger: Ledger, *, can_read: bool = True) -> None:
        self._plan = plan
        self._ledger = ledger
        self._can_read = can_read
        self._numbers = RangeNumbers(ledger)
        self._results = TaskResults(plan, ledger, self._numbers)
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
                return [task for task in tasks if self._can_read or task.name not in READING]
        return []

    def count_tasks(self) -> tuple[int, int, int]:
        """Return how many tasks are finished, how many there are as far as is known, and the pairs read."""
        done = self._ledger.list_done
        ranges = len(done("raw"))
        parts = len(self._numbers.list_partitions())
        numbers = {
            "held-out": 1,
            "read": 1,
            "clean": ranges,
            "duplicates": parts if self._plan.config.drop_duplicates else 0,
            "repeated": parts if self._plan.holds_out else 0,
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
        yield self._unfinished("held-out", 1, self._results.hold_out)
        reading = self._unfinished("read", 1, self._results.read)
        # Ranges are cleaned while the rest of the text is read.
        yield (
            self._unfinished("clean", self._numbers.count, self._results.clean, is_last=not reading)
            + reading
        )
        ranges = self._numbers.count
        parts = len(self._numbers.list_partitions())
        if plan.config.drop_duplicates:
            yield self._unfinished("duplicates", parts, self._results.find_duplicates)
        if plan.holds_out:
            yield self._unfinished("repeated", parts, self._results.find_repeated)
        yield self._unfinished("select", 1, self._results.select)
        yield self._unfinished("learn", self._count_learned(), self._results.learn)
        yield self._unfinished("tokens", ranges * plan.config.copies, self._results.tokenize)
        yield self._unfinished("assemble", 1, self._results.assemble)

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
