"""What an experiment works with: a directory that keeps what is done, a size, seeds, trainings."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from headway.config import Config, describe
from headway.errors import HeadwayError
from headway.kernels.processor import processors
from headway.paper.results import Table
from headway.paper.running.bitext import Bitext
from headway.paper.running.forecast import Forecast, effort
from headway.paper.running.scales import BASES, SECONDS
from headway.paper.running.trial import (
    Change,
    Trial,
    code_version,
    read_trial,
    run_trial,
    write_spec,
)
from headway.paper.running.workers import Piece, run_together
from headway.training.checkpoint import replace_file

TEXT = "--train train.en train.de --valid valid.en valid.de"
T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """A trial to be run.

    Attributes:
        name: What it is, in words.
        config: Its settings; the seed of ``training`` is replaced by ``seed``.
        corpus: Its text; None: the scale's own.
        seed: Of weights, order and dropout.
        change: Done to the model before training: a function at the top of a module.
    """

    name: str
    config: Config
    corpus: Bitext | None = None
    seed: int = 1
    change: Change | None = None


class Work:
    """The place, the size and the means of a reproduction.

    Args:
        directory: Keeps results, trials and data.
        scale: "toy" (seconds, nothing is learned), "minutes", "hours" or "paper".
        seeds: Of every comparison; none: three from 1, or two toys.
        say: Shows a line of progress to whoever waits.
        processes: Trials that run at once, one processor core each; 0: as many as there are cores.
        corpus: Text to train on; None: the built-in corpus, at "minutes" and "toy".
        rows: Groups of Table 3's rows that are trained, beside the base; none: all.
    """

    def __init__(
        self,
        directory: str | Path,
        scale: str = "minutes",
        seeds: Sequence[int] = (),
        say: Callable[[str], None] = lambda text: None,
        processes: int = 0,
        corpus: Bitext | None = None,
        rows: Sequence[str] = (),
    ) -> None:
        if scale not in BASES:
            raise HeadwayError(f"scale {scale}: there are {', '.join(BASES)}")
        self.directory = Path(directory)
        self.scale = scale
        self.seeds = tuple(seeds) or ((1, 2) if scale == "toy" else (1, 2, 3))
        self.rows = tuple(rows)
        self.say = say
        self.processes = processes or (1 if scale == "toy" else processors())
        self._corpus = corpus

    @property
    def seed(self) -> int:
        """The first of the seeds, of what is done once."""
        return self.seeds[0]

    @property
    def base(self) -> Config:
        """The settings that comparisons start from."""
        return BASES[self.scale]

    @property
    def text_fingerprint(self) -> str:
        """What tells the given text from another; empty for the built-in corpus."""
        return self._corpus.fingerprint if self._corpus else ""

    @cached_property
    def corpus(self) -> Bitext:
        """The text that comparisons train on.

        Raises:
            HeadwayError: If there is none at this scale.
        """
        if self._corpus is not None:
            return self._corpus
        if self.scale in ("hours", "paper"):
            raise HeadwayError(f"--scale {self.scale} needs text: give --train and --valid")
        return Bitext.built_in(*self.pick(toy=(300, 6), minutes=(24_000, 600)))

    def pick(self, *, toy: T, minutes: T, hours: T | None = None) -> T:
        """Return what fits the scale; ``minutes`` where there is nothing larger."""
        if self.scale == "toy":
            return toy
        return minutes if hours is None or self.scale == "minutes" else hours

    def trial(
        self,
        name: str,
        config: Config | None = None,
        corpus: Bitext | None = None,
        seed: int | None = None,
        change: Change | None = None,
    ) -> Trial:
        """Train and score a model, or read what it came to; without settings it is the base."""
        job = Job(name, config or self.base, corpus, self.seed if seed is None else seed, change)
        return self.trials([job])[0]

    def trials(self, jobs: Sequence[Job]) -> list[Trial]:
        """Train and score several models, as many at once as there are processes.

        Equal jobs are done once, and what was done before is read.
        """
        places = [self._place(job) for job in jobs]
        # The longest first, so that no core waits for a long one at the end.
        order = sorted(zip(places, jobs, strict=True), key=lambda pair: -effort(pair[1].config))
        waiting = {place: job for place, job in order if read_trial(place) is None}
        for place, job in waiting.items():  # before they run: several may need the same data
            corpus = job.corpus or self.corpus
            data = corpus.prepared(self.directory / "data", job.config.text)
            test = corpus.files(self.directory / "data")["test"]
            write_spec(place, job.name, _settled(job), data.directory, test, job.change)
        efforts = {place: effort(job.config) for place, job in waiting.items()}
        seconds = sum(efforts.values()) * SECONDS[self.scale] / effort(self.base)
        forecast = Forecast(efforts, seconds, self.processes)
        if len(waiting) > 1:
            self.say(f"  {forecast.first()}")

        def report(place: Path) -> None:
            trial = read_trial(place)
            assert trial is not None
            self.say(
                f"  trial {trial.name}, seed {trial.seed}: BLEU {trial.bleu:.1f}, perplexity"
                f" {trial.perplexity:.2f}, {trial.seconds:.0f} s of processor time"
                f" ({forecast.after(place)})"
            )

        run_together(run_trial, list(waiting), self.processes, report)
        found = [read_trial(place) for place in places]
        return [trial for trial in found if trial is not None]

    def pieces(self, piece: Piece, specs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Do trials of other kinds, or read what came of them.

        Args:
            piece: Reads what it is to do from a directory's ``spec.json``, and leaves what came of it
                in ``trial.json``.
            specs: Each with a "name" that is no part of what it does; a directory of the same spec is
                the same trial.

        Returns:
            What came of each.
        """
        places = [self.directory / "trials" / f"{piece.__name__}-{_key(spec)}" for spec in specs]
        waiting = [p for p in dict.fromkeys(places) if not (p / "trial.json").is_file()]
        for place in waiting:
            place.mkdir(parents=True, exist_ok=True)
            spec = specs[places.index(place)]
            replace_file(place / "spec.json", json.dumps(spec, indent=1).encode())

        def report(place: Path) -> None:
            self.say(f"  {specs[places.index(place)]['name']}: trained and scored")

        run_together(piece, waiting, self.processes, report)
        return [json.loads((p / "trial.json").read_text(encoding="utf-8")) for p in places]

    def by_seed(self, jobs: Sequence[Job]) -> dict[str, list[Trial]]:
        """Do each job with every seed: its name -> trials in the seeds' order."""
        wanted = [replace(job, seed=seed) for seed in self.seeds for job in jobs]
        found: dict[str, list[Trial]] = {job.name: [] for job in jobs}
        for job, trial in zip(wanted, self.trials(wanted), strict=True):
            found[job.name].append(trial)
        return found

    def done(self, jobs: Sequence[Job]) -> bool:
        """Whether each job was done before with every seed."""
        wanted = (replace(job, seed=seed) for job in jobs for seed in self.seeds)
        return all(read_trial(self._place(job)) is not None for job in wanted)

    @property
    def learned(self) -> float:
        """The BLEU from which a translator is taken to have learned what it can, about."""
        return 35.0 if self.scale == "hours" else 50.0

    def sober(self, found: str, *groups: Sequence[Trial]) -> str:
        """Return a verdict, but none where the models of a group have hardly learned anything."""
        means = [sum(trial.bleu for trial in group) / len(group) for group in groups]
        return found if min(means) >= self.learned else "not decided"

    def write_settings(self, jobs: Sequence[Job], verb: str = "train", text: str = TEXT) -> Table:
        """Write each job's settings as a TOML file; returns the commands that train them on a text."""
        folder = self.directory / "settings"
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for job in jobs:
            name = re.sub(r"[^a-z0-9.]+", "-", job.name.lower()).strip("-")
            replace_file(folder / f"{name}.toml", describe(job.config).encode())
            rows.append(
                (job.name, f"headway {verb} runs/{name} --config {folder / name}.toml {text}")
            )
        return Table("The trainings as commands", ("training", "command"), tuple(rows))

    def _place(self, job: Job) -> Path:
        change = job.change and f"{job.change.__module__}:{job.change.__qualname__}"
        parts = (_settled(job), (job.corpus or self.corpus).fingerprint, change, code_version())
        key = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
        return self.directory / "trials" / key


def _settled(job: Job) -> Config:
    """Return a job's settings with its seed, in one way of writing them: usual widths are 0."""
    model = job.config.model
    usual = model.d_model / model.num_heads
    d_k, d_v = (0 if width == usual else width for width in (model.d_k, model.d_v))
    return replace(
        job.config,
        model=replace(model, d_k=d_k, d_v=d_v),
        training=replace(job.config.training, seed=job.seed),
    )


def _key(spec: Mapping[str, Any]) -> str:
    values = {name: value for name, value in spec.items() if name != "name"}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
