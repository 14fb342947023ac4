"""What an experiment works with: a directory that keeps what is done, a size, seeds, trainings."""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from headway.config import Config, ModelConfig, TextConfig, TrainingConfig, describe
from headway.errors import HeadwayError
from headway.paper.bitext import Bitext
from headway.paper.results import Table
from headway.paper.trial import Change, Trial, code_version, read_trial, run_trial, write_spec
from headway.training.checkpoint import replace_file
from headway.training.machine import processors

Scale = str
SCALES = ("toy", "minutes", "hours", "paper")
TEXT = "--train train.en train.de --valid valid.en valid.de"
T = TypeVar("T")

# The paper's base with an eighth of its width and half of its depth, so that every row of Table 3
# has its like. Steps mix lengths: in the built-in corpus length goes with the kind of phrase.
SMALL = Config(
    text=TextConfig(vocab_size=2000, split_digits=True),
    model=ModelConfig(
        num_encoder_layers=3, num_decoder_layers=3, d_model=64, d_ff=256, num_heads=8, dropout=0.1
    ),
    training=TrainingConfig(
        max_steps=500, batch_tokens=1600, micro_batch_tokens=1600, packed=True, warmup_steps=200,
        rate_scale=1.0, checkpoint_every=50, average=5, precision="fp32", device="cpu", threads=1,
    ),
)  # fmt: skip
# Multi30k's: Wu et al. (2021) trained a model of 128 with 4 + 4 layers on it.
MIDDLE = Config(
    text=TextConfig(vocab_size=8000),
    model=ModelConfig(
        num_encoder_layers=3, num_decoder_layers=3, d_model=128, d_ff=512, num_heads=8, dropout=0.2
    ),
    training=TrainingConfig(
        max_steps=5000, batch_tokens=2500, micro_batch_tokens=2500, packed=True, warmup_steps=800,
        rate_scale=1.28, cool_steps=3500, checkpoint_every=250, average=5, device="cpu", threads=1,
    ),
)  # fmt: skip
TOY = Config(
    text=TextConfig(vocab_size=400, split_digits=True),
    model=ModelConfig(
        num_encoder_layers=3, num_decoder_layers=3, d_model=64, d_ff=256, num_heads=8, dropout=0.1
    ),
    training=TrainingConfig(
        max_steps=3, batch_tokens=300, micro_batch_tokens=300, packed=True, warmup_steps=8,
        checkpoint_every=1, average=2, precision="fp32", device="cpu", threads=1,
    ),
)  # fmt: skip


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
        seed: The first of the seeds.
        say: Shows a line of progress to whoever waits.
        processes: Trials that run at once, one processor core each; 0: as many as there are cores.
        corpus: Text to train on; None: the built-in corpus, at "minutes" and "toy".
    """

    def __init__(
        self,
        directory: str | Path,
        scale: Scale = "minutes",
        seed: int = 1,
        say: Callable[[str], None] = lambda text: None,
        processes: int = 0,
        corpus: Bitext | None = None,
    ) -> None:
        if scale not in SCALES:
            raise HeadwayError(f"scale {scale}: there are {', '.join(SCALES)}")
        self.directory = Path(directory)
        self.scale = scale
        self.seed = seed
        self.say = say
        self.processes = processes or (1 if scale == "toy" else processors())
        self._corpus = corpus

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of every comparison: three, or two toys."""
        return tuple(range(self.seed, self.seed + (2 if self.scale == "toy" else 3)))

    @property
    def base(self) -> Config:
        """The settings that comparisons start from."""
        return {"toy": TOY, "minutes": SMALL, "hours": MIDDLE, "paper": Config()}[self.scale]

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
        return self.pick(toy=Bitext.built_in(300, 6), minutes=Bitext.built_in(24_000, 600))

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
        waiting = {p: j for p, j in zip(places, jobs, strict=True) if read_trial(p) is None}
        for place, job in waiting.items():  # before they run: several may need the same data
            corpus = job.corpus or self.corpus
            data = corpus.prepared(self.directory / "data", job.config.text)
            test = corpus.files(self.directory / "data")["test"]
            write_spec(place, job.name, _seeded(job), data.directory, test, job.change)
        if self.processes == 1 or len(waiting) < 2:
            for place in waiting:
                self._report(run_trial(place), len(waiting))
        else:
            self._run_together(list(waiting))
        found = [read_trial(place) for place in places]
        return [trial for trial in found if trial is not None]

    def by_seed(self, jobs: Sequence[Job]) -> dict[str, list[Trial]]:
        """Do each job with every seed: its name -> trials in the seeds' order."""
        wanted = [replace(job, seed=seed) for seed in self.seeds for job in jobs]
        found: dict[str, list[Trial]] = {job.name: [] for job in jobs}
        for job, trial in zip(wanted, self.trials(wanted), strict=True):
            found[job.name].append(trial)
        return found

    def sober(self, found: str, base: Sequence[Trial]) -> str:
        """Return a verdict, but none where the models compared have hardly learned anything."""
        least = {"minutes": 50.0, "hours": 35.0}.get(self.scale, 50.0)
        learned = sum(trial.bleu for trial in base) / len(base) >= least
        return found if learned else "not decided"

    def write_settings(self, jobs: Sequence[Job]) -> Table:
        """Write each job's settings as a TOML file; returns the commands that train them."""
        folder = self.directory / "settings"
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for job in jobs:
            name = re.sub(r"[^a-z0-9.]+", "-", job.name.lower()).strip("-")
            replace_file(folder / f"{name}.toml", describe(job.config).encode())
            rows.append(
                (job.name, f"headway train runs/{name} --config {folder / name}.toml {TEXT}")
            )
        return Table("The trainings as commands", ("training", "command"), tuple(rows))

    def _place(self, job: Job) -> Path:
        change = job.change and f"{job.change.__module__}:{job.change.__qualname__}"
        parts = (_seeded(job), (job.corpus or self.corpus).fingerprint, change, code_version())
        key = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
        return self.directory / "trials" / key

    def _run_together(self, places: list[Path]) -> None:
        # Idle threads of one core each would only wait for each other.
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        children: list[subprocess.Popen[bytes]] = []

        def run(place: Path) -> None:
            # It ends when its standard input does: no trial outlives this process.
            command = [sys.executable, "-m", "headway.paper.trial", str(place)]
            with (place / "log.txt").open("wb") as log:
                child = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment
                )
            children.append(child)
            with child:
                code = child.wait()
            trial = read_trial(place)
            if trial is None:
                lines = (place / "log.txt").read_text(errors="replace").splitlines()
                raise HeadwayError(f"{place}: ended with {code}: {lines[-1] if lines else ''}")
            self._report(trial, len(places))

        pool = ThreadPoolExecutor(self.processes)
        try:
            list(pool.map(run, places))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in children:
                child.terminate()
            raise
        finally:
            pool.shutdown()

    def _report(self, trial: Trial, of: int) -> None:
        self.say(
            f"  trial {trial.name}, seed {trial.seed}: BLEU {trial.bleu:.1f}, perplexity"
            f" {trial.perplexity:.2f}, {trial.seconds:.0f} s of processor time (one of {of})"
        )


def _seeded(job: Job) -> Config:
    return replace(job.config, training=replace(job.config.training, seed=job.seed))
