"""From raw parallel text to prepared data: clean it, learn subwords, and write token ids.

The text is prepared range by range (`headway.text.preparation.stages`), by this process or by several. The prepared
data do not depend on the processes. Unfinished work is in a directory beside the prepared one, so that a
preparation that is killed goes on where it was.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from headway.config import TextConfig
from headway.errors import HeadwayError, LostWorkersError
from headway.files import sync
from headway.text.chunks import Workers, count_results, run_stage
from headway.text.groups import Text, Validation
from headway.text.lines import STANDARD_INPUT
from headway.text.preparation.plan import Plan
from headway.text.preparation.stages import PreparationStages
from headway.text.prepared import PreparedData, check_new
from headway.text.readers import UTF8, FileForm
from headway.text.tokenizer import Tokenizer
from headway.text.work_directory import WorkDirectory, open_work

WORKER_BYTES = 1 << 23  # of training text, for which another worker process is worth its start


class Progress(NamedTuple):
    """How far a preparation is.

    Attributes:
        stage: The stage in progress.
        chunks: Its finished chunks, such as ranges of 65,536 pairs.
    """

    stage: str
    chunks: int


class Preparation:
    """A preparation, which may be new or interrupted.

    Args:
        plan: The text and the settings.
        out: The directory to make, which must not exist yet or be empty.

    Attributes:
        work: The work directory.
        notice: What the user should know, or an empty string.
    """

    def __init__(self, plan: Plan, out: str | Path) -> None:
        self.out = Path(out)
        if not self.out.name:  # the current directory, which has a name in its parent only
            check_new(self.out)
        self.work = self.out.with_name(f".preparing-{self.out.name}")
        self.notice = ""
        self._plan = plan

    def run(self, workers: int = 1, cluster: str = "") -> Iterator[Progress]:
        """Prepare the text, and yield the progress after each chunk.

        Args:
            workers: The largest number of processes; little text is prepared in this process.
            cluster: The address of a cluster of Dask, which does the work in place of processes of this machine.

        Raises:
            HeadwayError: If text is missing or wrong, or another process prepares something here.
            OSError: If ``out`` cannot be written; it names ``out``. What is finished is kept, and the same call goes on.
        """
        if not self.work.exists():
            check_new(self.out)
        identity = self._plan.identify()
        with self._explain_errors(), open_work(self.work, self.out, identity) as work:
            # A process that was killed may have finished all but the deletion of its work.
            if work.dropped or not (self.out / "data.json").exists():
                check_new(self.out)
                if work.dropped:
                    self.notice = (
                        f"{self.out}: interrupted before; it starts again ({work.dropped})"
                    )
                processes = min(workers, 1 + self._plan.input_bytes() // WORKER_BYTES)
                yield from self._run(work, Workers(processes, cluster=cluster))
            work.clear()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Name ``out`` in an error about a file of the work directory, or about no file, and tell how to go on."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            if self.work.exists():
                reason += f"; the same command goes on; otherwise delete {self.work}"
            is_own = error.filename is None or str(error.filename).startswith(str(self.work))
            file = str(self.out) if is_own else error.filename
            raise OSError(error.errno, reason, file) from None

    def _run(self, work: WorkDirectory, workers: Workers) -> Iterator[Progress]:
        directory = work.directory.absolute()
        stages = PreparationStages(self._plan, directory)
        try:
            for stage in stages.list_stages():
                done = count_results(directory / stage.name)
                yield Progress(stage.name, done)
                for _ in run_stage(stage, directory, workers):
                    done += 1
                    yield Progress(stage.name, done)
            # The folder must not hold a part of the data, whenever this process is killed.
            stages.result.rename(self.out)
            sync(self.out.parent)
        except (HeadwayError, OSError) as error:
            # Standard input cannot be read again.
            is_of_disk = isinstance(error, OSError) and STANDARD_INPUT not in self._plan.files
            if not (is_of_disk or isinstance(error, LostWorkersError)):
                with suppress(OSError):  # the first error is the one to report
                    work.clear()
            raise


def prepare(
    train: Text,
    valid: Validation,
    out: str | Path,
    config: TextConfig,
    languages: tuple[str, str] | None = None,
    tests: Sequence[Text] = (),
    tokenizer: Tokenizer | None = None,
    form: FileForm = UTF8,
    workers: int = 1,
) -> PreparedData:
    """Write a prepared directory from raw parallel text; it appears whole or not at all.

    Args:
        train: One file of pairs, or two plain text files. For a model of several pairs of languages,
            ``{"en-de": files, "en-fr": files}``.
        valid: Likewise, and a line that is no pair is an error; or the number of pairs to hold out of
            the training text, of each pair of languages.
        out: The directory, which must not exist yet or be empty.
        config: The cleaning rules and the vocabulary.
        languages: Codes of source and target; None: the suffixes of two plain files.
        tests: Test sets, likewise; a training pair that occurs in one is dropped.
        tokenizer: The vocabulary to use; None: learn one from the training text.
        form: The encoding of files that are not UTF-8, and the columns of tables.
        workers: The largest number of processes; little text is prepared in this process.

    Raises:
        HeadwayError: If text is missing or wrong; it names the file and line.
        OSError: If ``out`` cannot be written; it names ``out``.
    """
    plan = Plan.make(train, valid, config, languages, tests=tests, tokenizer=tokenizer, form=form)
    for _ in Preparation(plan, out).run(workers):
        pass
    return PreparedData.open(out)
