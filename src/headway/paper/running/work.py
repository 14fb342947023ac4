"""What an experiment works with: a directory that keeps finished trials, a scale, seeds and text."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from headway.config import Config, to_toml
from headway.errors import HeadwayError
from headway.kernels.processor import available_cores
from headway.paper.results import Table
from headway.paper.running.bitext import Bitext
from headway.paper.running.forecast import Forecast, training_effort
from headway.paper.running.scales import BASES, SECONDS
from headway.paper.running.task import Task
from headway.paper.running.trial import (
    Change,
    Group,
    Trial,
    code_version,
    read_trial,
    run_trial,
    write_spec,
)
from headway.paper.running.workers import run_together
from headway.training.checkpoint import replace_file

TEXT = "--train train.en train.de --valid valid.en valid.de"
# What an experiment says of its scale "paper".
ONLY_SETTINGS = (
    "Nothing is trained at this scale: the settings are written, with the commands that train them."
)
T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """A trial to be run.

    Attributes:
        name: For people.
        config: Its settings; ``seed`` replaces the seed of ``training``.
        task: Its data; None: the work's text.
        seed: Of weights, order and dropout.
        change: A function at the top level of a module that changes the model before training.
    """

    name: str
    config: Config
    task: Task | None = None
    seed: int = 1
    change: Change | None = None


class Work:
    """The place, the scale and the means of a reproduction.

    Args:
        directory: Keeps results, trials and data.
        scale: "toy" (seconds, nothing is learned), "minutes", "hours" or "paper".
        seeds: Of every comparison; by default 1, 2 and 3, or 1 and 2 for toys.
        show: Shows a line of progress.
        processes: How many trials run at once, on one core each; 0: one for each core.
        corpus: Text to train on; None: the built-in corpus, at "minutes" and "toy".
        rows: Groups of Table 3's rows that are trained beside the base; none: all.
    """

    def __init__(
        self,
        directory: str | Path,
        scale: str = "minutes",
        seeds: Sequence[int] = (),
        show: Callable[[str], None] = lambda text: None,
        processes: int = 0,
        corpus: Bitext | None = None,
        rows: Sequence[str] = (),
    ) -> None:
        if scale not in BASES:
            raise HeadwayError(f"scale {scale}: the scales are {', '.join(BASES)}")
        self.directory = Path(directory)
        self.scale = scale
        self.seeds = tuple(seeds) or ((1, 2) if scale == "toy" else (1, 2, 3))
        self.rows = tuple(rows)
        self.show = show
        self.processes = processes or (1 if scale == "toy" else available_cores())
        self._given_corpus = corpus

    @property
    def base(self) -> Config:
        """The settings that comparisons start from."""
        return BASES[self.scale]

    @property
    def is_settings_only(self) -> bool:
        """Whether the scale writes settings instead of training."""
        return self.scale == "paper"

    @property
    def least_bleu(self) -> float:
        """The BLEU below which a translator has hardly learned anything."""
        return 35.0 if self.scale == "hours" else 50.0

    @property
    def seeds_note(self) -> str:
        """What a table of means says of its seeds."""
        return f"{len(self.seeds)} seeds, means with 95 % intervals by Student's t."

    @property
    def text_fingerprint(self) -> str:
        """A hash of the given text; empty for the built-in corpus."""
        return self._given_corpus.fingerprint if self._given_corpus else ""

    @cached_property
    def corpus(self) -> Bitext:
        """The text that comparisons train on.

        Raises:
            HeadwayError: If this scale has no text of its own and none was given.
        """
        if self._given_corpus is not None:
            return self._given_corpus
        if self.scale in ("hours", "paper"):
            raise HeadwayError(f"--scale {self.scale} needs text: give --train and --valid")
        return Bitext.built_in(*self.pick(toy=(300, 6), minutes=(24_000, 600)))

    def pick(self, *, toy: T, minutes: T, hours: T | None = None) -> T:
        """Return the value for this scale; without one for "hours", that of "minutes"."""
        if self.scale == "toy":
            return toy
        return minutes if hours is None or self.scale == "minutes" else hours

    def trials(self, jobs: Sequence[Job]) -> list[Trial]:
        """Train and score several models, as many at once as there are processes.

        Equal jobs are done once, and finished trials are read.
        """
        directories = [self._trial_directory(job) for job in jobs]
        # The longest first, so that no core waits for a long one at the end.
        order = sorted(
            zip(directories, jobs, strict=True), key=lambda pair: -training_effort(pair[1].config)
        )
        waiting = {directory: job for directory, job in order if read_trial(directory) is None}
        for directory, job in waiting.items():  # before any runs: several may need the same data
            task, data = job.task or self.corpus, self.directory / "data"
            write_spec(directory, job.name, _normalized(job), task, data, job.change)
        efforts = {directory: training_effort(job.config) for directory, job in waiting.items()}
        seconds = sum(efforts.values()) * SECONDS[self.scale] / training_effort(self.base)
        forecast = Forecast(efforts, seconds, self.processes)
        if len(waiting) > 1:
            self.show(f"  {forecast.first()}")
        for directory in run_together(run_trial, list(waiting), self.processes):
            trial = read_trial(directory)
            assert trial is not None
            scores = ", ".join(f"{name} {value:.4g}" for name, value in trial.scores.items())
            self.show(
                f"  trial {trial.name}, seed {trial.seed}: {scores}, {trial.seconds:.0f} s of"
                f" processor time ({forecast.after(directory)})"
            )
        found = [read_trial(directory) for directory in directories]
        return [trial for trial in found if trial is not None]

    def groups(self, jobs: Sequence[Job]) -> dict[str, Group]:
        """Do each job with every seed; returns the trials of each job by its name."""
        wanted = [replace(job, seed=seed) for seed in self.seeds for job in jobs]
        trials = self.trials(wanted)
        return {job.name: Group(tuple(trials[i :: len(jobs)])) for i, job in enumerate(jobs)}

    def are_done(self, jobs: Sequence[Job]) -> bool:
        """Return whether each job was done with every seed."""
        wanted = (replace(job, seed=seed) for job in jobs for seed in self.seeds)
        return all(read_trial(self._trial_directory(job)) is not None for job in wanted)

    def write_settings(self, jobs: Sequence[Job], verb: str = "train", text: str = TEXT) -> Table:
        """Write each job's settings as a TOML file; returns a table of the commands that train them."""
        folder = self.directory / "settings"
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for job in jobs:
            name = re.sub(r"[^a-z0-9.]+", "-", job.name.lower()).strip("-")
            replace_file(folder / f"{name}.toml", to_toml(job.config).encode())
            rows.append(
                (job.name, f"headway {verb} runs/{name} --config {folder / name}.toml {text}")
            )
        return Table("The trainings as commands", ("training", "command"), tuple(rows))

    def _trial_directory(self, job: Job) -> Path:
        task = job.task or self.corpus
        modules = {type(task).__module__}
        if job.change:
            modules.add(job.change.__module__)
        parts = (
            _normalized(job),
            task.fingerprint,
            job.change and f"{job.change.__module__}:{job.change.__qualname__}",
            code_version(*sorted(modules)),
        )
        key = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
        return self.directory / "trials" / key


def _normalized(job: Job) -> Config:
    """Return a job's settings with its seed; widths of heads that are the usual ones become 0."""
    model = job.config.model
    usual = model.d_model / model.num_heads
    d_k, d_v = (0 if width == usual else width for width in (model.d_k, model.d_v))
    return replace(
        job.config,
        model=replace(model, d_k=d_k, d_v=d_v),
        training=replace(job.config.training, seed=job.seed),
    )
