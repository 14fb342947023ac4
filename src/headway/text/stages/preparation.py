"""A preparation of text in a work directory, by this process, by worker processes, and with others.

The work directory is beside the prepared directory until that is complete, so that a preparation that is
killed goes on where it was.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from headway.config import TextConfig
from headway.config.setting import spell
from headway.errors import HeadwayError
from headway.files import remove, sync
from headway.tasks.claims import Claims
from headway.tasks.ledger import Ledger
from headway.tasks.members import Member
from headway.tasks.processes import LostWorkersError, WorkerProcesses
from headway.tasks.work import work
from headway.text.groups import Text, Validation, make_groups
from headway.text.prepared import check_new
from headway.text.readers import UTF8, FileForm
from headway.text.stages.job import PreparationJob
from headway.text.stages.plan import PLAN, Plan
from headway.text.stages.task_results import VOCABULARY
from headway.text.tokenizer import Tokenizer, check_symbols

WORKER_BYTES = 1 << 23  # of training text, for which another worker process is worth its start
WORKER = "headway.text.stages.worker"
PAUSE = 0.1  # seconds between two looks at the worker processes
PATIENCE = 5.0  # seconds in which the worker processes of a killed command end


class Progress(NamedTuple):
    """How far a preparation is.

    Attributes:
        tasks: Finished tasks.
        of: All tasks that are known so far; more are known when the text is read.
        pairs: Pairs that are read, up to a whole range.
    """

    tasks: int
    of: int
    pairs: int


class Preparation:
    """A preparation, which may be new, interrupted or in progress in other processes.

    Args:
        train: As the other arguments, see `prepare`.
        valid: As above.
        out: As above.
        config: As above.
        languages: As above.
        tests: As above.
        tokenizer: As above.
        form: As above.
        join: Share the tasks with other processes that prepare the same. Then ``out`` may be complete.

    Attributes:
        work: The work directory.
        notice: What the user should know, or an empty string.
    """

    def __init__(
        self,
        train: Text,
        valid: Validation,
        out: str | Path,
        config: TextConfig,
        languages: tuple[str, str] | None = None,
        *,
        tests: Sequence[Text] = (),
        tokenizer: Tokenizer | None = None,
        form: FileForm = UTF8,
        join: bool = False,
    ) -> None:
        self.out = Path(out)
        if not self.out.name:  # the current directory, which has a name in its parent only
            check_new(self.out)
        self.work = self.out.with_name(f".preparing-{self.out.name}")
        # The name of the work directory while it is deleted, so that no process takes it for work.
        self._rest = self.out.with_name(f".prepared-{self.out.name}")
        self.notice = ""
        self._join = join
        self._tokenizer = tokenizer
        has_symbols = isinstance(train, Mapping)
        groups = make_groups(train, valid, tests, languages)
        if has_symbols and tokenizer:
            check_symbols([group.codes[1] for group in groups], tokenizer)
        self._plan = Plan.make(groups, config, form, tokenizer, has_symbols=has_symbols)
        if join and self._plan.reads_standard_input:
            raise HeadwayError("-: only one process can read standard input: give a file")

    def run(self, workers: int = 1) -> Iterator[Progress]:
        """Prepare the text, and yield the progress several times a second or after each task.

        Args:
            workers: The largest number of processes; little text is prepared in this process.

        Raises:
            HeadwayError: If text is missing or wrong, or another process prepares something else here.
            OSError: If ``out`` cannot be written; it names ``out``. What is finished is kept, and the same call goes on.
        """
        with self._name_out():
            if self._join and self._is_published:
                # The process that has published the directory may still delete the work, so this one deletes nothing.
                self._check_published()
                return
            is_finished = self._is_finished()
            self._remove_leftovers(also_work=is_finished)
            if is_finished:
                return
            check_new(self.out)
            for _ in range(2):  # the second time without a work directory of other text
                try:
                    self.work.mkdir(parents=True, exist_ok=True)
                    with Member(self.work) as member:
                        if self._begin(member):
                            yield from self._run(member, workers)
                            return
                    self._remove_work()
                except FileNotFoundError:  # another process has removed the work directory
                    if not self._is_published:
                        raise
                    return
        raise HeadwayError(f"{self.out}: another process prepares it at the same time")

    @contextmanager
    def _name_out(self) -> Iterator[None]:
        """Name ``out`` in an error about a file of the work directory, or about no file."""
        try:
            yield
        except OSError as error:
            places = tuple(map(str, (self.work, self._rest)))
            if error.filename is not None and not str(error.filename).startswith(places):
                raise
            raise OSError(error.errno, error.strerror or str(error), str(self.out)) from None

    @property
    def _is_published(self) -> bool:
        return (self.out / "data.json").exists()

    def _is_finished(self) -> bool:
        """Return whether a process that was killed had already finished the prepared directory of this plan."""
        return self._is_published and any(
            Plan.read(place) == self._plan for place in (self.work, self._rest)
        )

    def _remove_leftovers(self, *, also_work: bool) -> None:
        """Delete what a killed process has left: what it was deleting, and the work of a finished preparation."""
        if also_work:
            self._remove_work()
        if self._rest.exists():
            remove(self._rest)

    def _check_published(self) -> None:
        """Check that the prepared directory has the text settings of this plan.

        Raises:
            HeadwayError: If it has others.
        """
        stored = json.loads((self.out / "data.json").read_text(encoding="utf-8"))["text"]
        for name, own in asdict(self._plan.config).items():
            if stored.get(name, own) != own:
                raise HeadwayError(
                    f"{self.out}: is prepared already, and text.{name} was {spell(stored[name])} and is now"
                    f" {spell(own)}: give the same command, or another OUT"
                )

    def _begin(self, member: Member) -> bool:
        """Begin a preparation, or go on with the one whose plan the work directory holds.

        Returns:
            False if the work directory is of no use and no process uses it.

        Raises:
            HeadwayError: If another process uses it.
        """
        before = Plan.read(self.work)
        difference = before.find_difference(self._plan) if before else ""
        ledger = Ledger(self.work, member.name)
        if others := self._list_others(member):
            if not self._join:
                raise HeadwayError(
                    f"{self.out}: another process prepares it ({others[0]}): wait for it, or share its"
                    " work by --join"
                )
            if difference:
                raise HeadwayError(
                    f"{self.out}: another process prepares it from other text or settings: {difference}"
                )
        else:
            job = PreparationJob(self._plan, ledger)
            is_used = any(entry.name != "members" for entry in self.work.iterdir())
            is_lost = before is None or (job.is_complete and not job.result.exists())
            if difference or (is_used and (is_lost or self._plan.reads_standard_input)):
                why = difference or "it cannot go on"
                self.notice = f"{self.out}: interrupted before; it starts again, because {why}"
                return False
            ledger.remove_failure()
        if before is None:
            if self._tokenizer:
                (self.work / VOCABULARY).mkdir(exist_ok=True)
                self._tokenizer.save(self.work / VOCABULARY)
            self._plan.write(ledger)
        ledger.remove_unfinished(member)
        return True

    def _list_others(self, member: Member) -> list[str]:
        """Return the other processes; those of a killed command end in a moment."""
        patience = time.monotonic() + (0 if self._join else PATIENCE)
        while (others := member.list_others()) and time.monotonic() < patience:
            time.sleep(PAUSE)
        return others

    def _run(self, member: Member, workers: int) -> Iterator[Progress]:
        ledger = Ledger(self.work, member.name)
        job = PreparationJob(self._plan, ledger)
        claims = Claims(self.work, member)
        count = min(workers, 1 + self._plan.input_bytes() // WORKER_BYTES)
        try:
            if self._is_published:  # a moment ago, by a process that this one wanted to join
                self._remove_work()
            elif count == 1:
                for _ in work(job, ledger, claims):
                    yield Progress(*job.count_tasks())
            else:
                yield from self._run_workers(job, ledger, claims, count)
            if not self._is_published:
                self._publish(job.result)
        except LostWorkersError:
            raise
        except HeadwayError:
            self._remove_own_work()
            raise
        except OSError as error:
            if self._plan.reads_standard_input:
                self._remove_own_work()
                raise
            raise OSError(
                error.errno,
                f"{error.strerror or error}; the same command goes on; otherwise delete {self.work}",
                error.filename,
            ) from None

    def _run_workers(
        self, job: PreparationJob, ledger: Ledger, claims: Claims, count: int
    ) -> Iterator[Progress]:
        """Let worker processes do the tasks; this process reads standard input, if that is a file of the text."""
        with WorkerProcesses(count, WORKER, [str(self.work)]) as processes:
            progress = Progress(*job.count_tasks())
            processes.keep_running(progress.tasks)
            own = work(job, ledger, claims) if self._plan.reads_standard_input else repeat(None)
            while ledger.exists and not job.is_complete:
                if reason := ledger.failure():
                    raise HeadwayError(reason)
                next(own, None)
                began = time.monotonic()
                progress = Progress(*job.count_tasks())
                processes.keep_running(progress.tasks)
                yield progress
                # Counting takes longer if there are many tasks; most of the time, this process sleeps.
                time.sleep(max(PAUSE, 10 * (time.monotonic() - began)))

    def _publish(self, result: Path) -> None:
        """Give the prepared directory its name, and delete the work directory."""
        try:
            result.rename(self.out)
        except OSError:
            if self._is_published:  # by another process, which deletes the work directory
                return
            if self.work.exists():
                raise
            raise HeadwayError(
                f"{self.out}: another process ended its preparation: start the command again"
            ) from None
        sync(self.out.parent)
        self._remove_work()

    def _remove_own_work(self) -> None:
        """Delete the work directory after an error, unless others share it."""
        if not self._join:
            with suppress(OSError):  # the first error is the one to report
                self._remove_work()

    def _remove_work(self) -> None:
        """Delete the work directory; the plan last, so that a killed deletion is recognized."""
        remove(self._rest)
        with suppress(FileNotFoundError):
            self.work.rename(self._rest)
            for entry in self._rest.iterdir():
                if entry.name != PLAN:
                    remove(entry)
            remove(self._rest)
