"""A training run: where the trainer, the data's position and the directory come together.

Everything a step does is a function of weights, optimizer, generators, position and the few numbers
of `State`; a checkpoint holds them all, so a run that goes on from one is the run it was.
"""

import copy
import time
from collections.abc import Generator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headway.config import Config, SearchConfig
from headway.errors import HeadwayError
from headway.inference.directory import load_model, save_model
from headway.inference.shortlist import learn
from headway.model import Network, make_model
from headway.text.batches import Batch
from headway.text.prepare import PreparedData
from headway.training import processes
from headway.training.averaging import average_weights
from headway.training.card import model_card
from headway.training.checkpoint import one_line
from headway.training.feed import Feed
from headway.training.helper import HelperEnded
from headway.training.machine import Machine
from headway.training.run_directory import RunDirectory
from headway.training.state import Event, Notice, State
from headway.training.trainer import StepReport, Trainer
from headway.training.validation import Progress, ValidationReport, validate

SHORTLIST_PAIRS = 100_000  # that a shortlist is learned from, at most
SECONDS = 600.0  # of work that may be lost at most (paper: checkpoints every 10 minutes)
ROLL_BACKS = 3  # with less than a checkpoint's interval of good steps between; then a run stops
TIMED = 10  # steps between two lines of timings.jsonl


class Run:
    """A run in progress; `headway.training.starting` makes one, or goes on with one.

    Args:
        directory: Locked.
        data: The prepared data.
        config: With the vocabulary sizes set.
        facts: What ``run.json`` holds.
    """

    def __init__(
        self, directory: RunDirectory, data: PreparedData, config: Config, facts: dict[str, Any]
    ) -> None:
        self.directory, self.data, self.config, self.facts = directory, data, config, facts
        machine = Machine(**facts["machine"])
        device = machine.prepare()
        seed = config.training.seed
        torch.manual_seed(seed)
        model = make_model(config.model).to(device)
        if processes.rank():  # the same weights, but dropout of its own
            torch.manual_seed(seed + 1_000_003 * processes.rank())
        self.trainer = Trainer(model, config.training, machine.precision)
        self.feed = Feed(data, config.training, device)
        self.state = State()
        self.saved = -1
        self._clock = time.monotonic()  # of the last checkpoint
        self._seconds, self._tokens = 0.0, 0

    @property
    def step(self) -> int:
        """Steps so far."""
        return self.trainer.steps

    @property
    def at_end(self) -> bool:
        """Whether all steps are taken."""
        return self.step >= self.config.training.max_steps

    @property
    def out_of_patience(self) -> bool:
        """Whether too many validations in a row brought nothing better."""
        return 0 < self.config.training.patience <= self.state.since_best

    @property
    def checkpoint_due(self) -> bool:
        """Whether this step's checkpoint belongs to the run's series."""
        return self.at_end or self.step % self.config.training.checkpoint_every == 0

    @property
    def save_due(self) -> bool:
        """Whether there is much to lose: a checkpoint outside the series is in order."""
        return bool(processes.highest(int(time.monotonic() - self._clock > SECONDS)))

    @property
    def validation_due(self) -> bool:
        """Whether this step is to be validated and was not yet."""
        on_time = self.at_end or self.step % self.config.training.validate_every == 0
        return on_time and self.step > self.state.validated

    def begin(self) -> None:
        """Make the directory a run, with these settings from now on; until then nothing is settled."""
        if processes.rank() == 0 and not self.directory.started:
            self.directory.write_facts(self.facts)

    def advance(self) -> list[Event]:
        """Take one optimizer step on the next data and log it.

        Raises:
            HelperEnded: If a helping process ended for good; the run is as before.
        """
        started = time.perf_counter()
        position = self.feed.epoch, self.feed.index
        micro_batches = self.feed.next()
        try:
            report = self.trainer.step(micro_batches)
        except HelperEnded:  # the step did not happen, and what is saved now is before it
            self.trainer.steps -= 1
            self.feed = Feed(self.data, self.config.training, self.trainer.device, *position)
            raise
        self._log(event="step", **asdict(report))
        self._time(report, time.perf_counter() - started)
        events: list[Event] = [report]
        self.state.failures = self.state.failures + 1 if report.skipped else 0
        if report.skipped:
            self.state.skipped += 1
            path = self._write_bad_batch(micro_batches)
            events.append(Notice(text=f"step {self.step}: not finite, skipped; its text: {path}"))
        broken = self.state.failures >= self.config.training.max_failures
        if broken or ((self.checkpoint_due or self.validation_due) and not self.trainer.finite()):
            events.append(self._roll_back())
        return events

    def save(self) -> None:
        """Write this step's checkpoint, unless it is there or its weights are not finite."""
        if self.saved == self.step or not self.trainer.finite():
            return
        started = time.perf_counter()
        self.state.epoch, self.state.index = self.feed.epoch, self.feed.index
        tensors = self.trainer.tensors()
        if processes.rank() == 0:
            self.directory.save(self.step, tensors, asdict(self.state))
            self.directory.prune({*self._series()[-self.config.training.average :], self.step})
            seconds = time.perf_counter() - started
            self.directory.timings.write(event="checkpoint", step=self.step, seconds=seconds)
        processes.wait()
        self.saved, self._clock = self.step, time.monotonic()

    def validate(self) -> Iterator[Event]:
        """Validate the model as it is; keep it if it is the best so far."""
        report = yield from self._validate(self.trainer.model)
        better = report.better_than(self.state.best)
        self._log(event="validation", **asdict(report), best=better)
        if better:
            self.state.best, self.state.since_best = report, 0
            self._write_model(self.directory.best, self.trainer.model, report)
        else:
            self.state.since_best += 1
        self._install(self.trainer.model, report)
        self.state.validated = self.step
        yield report

    def finish(self) -> Iterator[Event]:
        """Average the last checkpoints, install the average if it is better, and close the run."""
        trained = {*self._series(), self.step} - {0}
        steps = sorted(trained)[-self.config.training.average :]
        if len(steps) > 1:
            model = copy.deepcopy(self.trainer.model)
            model.load_state_dict(average_weights([self.directory.weights(s) for s in steps]))
            report = yield from self._validate(model, averaged=len(steps))
            self._log(event="validation", **asdict(report), checkpoints=steps)
            self._write_model(self.directory.averaged, model, report)
            self._install(model, report)
            yield report
        if wants_shortlist(self.config):
            write_shortlist(self.directory, self.data)
        self.facts["finished"] = True
        if processes.rank() == 0:
            self.directory.write_facts(self.facts)

    def _series(self) -> list[int]:
        """The run's own checkpoints, which are kept and averaged; the others only save work."""
        every = self.config.training.checkpoint_every
        return [step for step in self.directory.steps() if step % every == 0]

    def _roll_back(self) -> Notice:
        """Go back to the weights and optimizer of the newest checkpoint, and on with new data."""
        good = self._series()[-1]
        settings = self.config.training
        if self.step - self.state.rolled_back > settings.checkpoint_every + settings.max_failures:
            self.state.roll_backs = 0
        if self.state.roll_backs == ROLL_BACKS:
            raise HeadwayError(
                f"{self.directory.path}: step {self.step} diverged, after {ROLL_BACKS} returns to"
                " earlier weights: look at bad-batches/, or start another RUN with"
                f" --data {self.data.directory} and a lower training.rate_scale or more"
                " training.warmup_steps"
            )
        tensors, _ = self.directory.load(good)
        self.trainer.load(tensors, random=False)
        self.state.roll_backs += 1
        self.state.rolled_back = self.step
        self.state.failures = 0
        self._log(event="roll-back", step=self.step, to=good)
        return Notice(text=f"step {self.step}: went back to the weights of step {good}")

    def _validate(
        self, model: Network, averaged: int = 1
    ) -> Generator[Progress, None, ValidationReport]:
        started = time.perf_counter()
        settings = self.config.training
        scores = (0.0, 0.0, 0.0, 0.0)
        if processes.rank() == 0:
            scores = yield from validate(
                model,
                self.data,
                SearchConfig(beam=settings.validation_beam),
                batch_tokens=settings.micro_batch_tokens,
                sentences=settings.validation_sentences,
            )
            seconds = time.perf_counter() - started
            self.directory.timings.write(event="validation", step=self.step, seconds=seconds)
        perplexity, bleu, chrf, accuracy = processes.share(scores)
        return ValidationReport(
            step=self.step,
            averaged=averaged,
            perplexity=perplexity,
            bleu=bleu,
            chrf=chrf,
            accuracy=accuracy,
        )

    def _install(self, model: Network, report: ValidationReport) -> None:
        """Make a model the run's, if it is better than the one that is."""
        installed = self.facts["installed"]
        if report.better_than(installed and ValidationReport(**installed)):
            self._write_model(self.directory.path, model, report)
            self.facts["installed"] = asdict(report)
            if processes.rank() == 0:
                self.directory.write_facts(self.facts)

    def _write_model(self, path: Path, model: Network, report: ValidationReport) -> None:
        if processes.rank() == 0:
            languages, tokenizer = self.data.languages, self.data.tokenizer
            which = (
                f"average of {report.averaged} checkpoints" if report.averaged > 1 else "weights"
            )
            which += f" at step {report.step}"
            card = model_card(self.config, self.facts, languages, which, report)
            with one_line(path, sum(w.nbytes for w in model.state_dict().values())):
                save_model(path, model, tokenizer, self.config, languages, card)

    def _write_bad_batch(self, micro_batches: list[Batch]) -> Path:
        pairs = [pair for batch in micro_batches for pair in self.feed.text(batch)]
        return self.directory.write_bad_batch(self.step, processes.rank(), pairs)

    def _log(self, **values: Any) -> None:
        if processes.rank() == 0:
            self.directory.metrics.write(**values)

    def _time(self, report: StepReport, seconds: float) -> None:
        self._tokens += report.tokens
        self._seconds += seconds
        if report.step % TIMED == 0 and processes.rank() == 0:
            self.directory.timings.write(
                event="steps",
                step=report.step,
                time=time.time(),
                tokens_per_second=self._tokens / self._seconds,
                peak_memory_bytes=self.trainer.peak_memory,
            )
            self._seconds, self._tokens = 0.0, 0


def wants_shortlist(config: Config) -> bool:
    """Whether this process is to write one at the end of a run; only one process does."""
    wanted = config.search.shortlist > 0 and config.model.kind == "translator"
    return wanted and processes.rank() == 0


def write_shortlist(directory: RunDirectory, data: PreparedData) -> None:
    """Learn a shortlist from pairs spread over the training text, with the model installed."""
    corpus = data.train
    rows = np.linspace(0, len(corpus) - 1, min(len(corpus), SHORTLIST_PAIRS)).astype(int)
    model = load_model(directory.path).transformer
    shortlist = learn(model, (corpus.pair(row) for row in rows.tolist()))
    for path in (directory.path, directory.averaged):
        if path.is_dir():
            shortlist.save(path)
