"""A training run: the trainer, the position in the data and the run directory, together.

What a step does depends only on the weights, the optimizer, the position in the data, the few numbers
of `RunState`, the settings and the step's number. A checkpoint holds all of them, so a resumed run gives
the same results as one that was never interrupted, also on another number of ranks.
"""

import copy
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from headway.config import Config, SearchConfig
from headway.errors import HeadwayError, LostRankError
from headway.extension import load_all
from headway.files import OtherVersionError
from headway.model import Network, make_model
from headway.model.network import zero_outputs
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.dry_run import make_dry_run
from headway.training.machine import (
    kept_generators,
    peak_memory,
    seed_generators,
    thread_count,
)
from headway.training.steps.feed import Feed
from headway.training.steps.sharding import ShardedTrainer
from headway.training.steps.trainer import StepReport, Trainer
from headway.training.storage.checkpoint import average_weights, explain_write_errors
from headway.training.storage.model_writer import install_model, write_model
from headway.training.storage.record import RunRecord, RunState, to_values
from headway.training.storage.run_directory import RunDirectory
from headway.training.validation import ProgressReport, ValidationReport, validate

MAX_UNSAVED_SECONDS = 600.0  # of work that a crash may lose (paper: a checkpoint every 10 minutes)
MAX_ROLL_BACKS = 3  # in a row, with less than a checkpoint's interval of good steps in between
TIMING_STEPS = 10  # steps between two lines of timings.jsonl


@dataclass(frozen=True, kw_only=True)
class Notice:
    """A message to the user, of one line."""

    text: str


Event = StepReport | ValidationReport | ProgressReport | Notice


class Run:
    """A run in progress, which `headway.training.starting` starts or resumes.

    The run leaves torch's random generators and number of threads as they were, so that it can share a
    process with other work.

    Args:
        directory: Locked.
        data: The prepared data.
        config: The settings, with the vocabulary sizes.
        record: What ``run.json`` holds.
    """

    def __init__(
        self, directory: RunDirectory, data: PreparedData, config: Config, record: RunRecord
    ) -> None:
        self.directory, self.data, self.config, self.record = directory, data, config, record
        self.machine = record.machine
        device = self.machine.torch_device
        with kept_generators(device), thread_count(self.machine.threads_per_rank):
            seed_generators(device, config.training.seed)
            model = make_model(config.model)
            if config.training.zero_outputs:
                zero_outputs(model)
            model = model.to(device)
            kind = ShardedTrainer if config.training.shard else Trainer
            self.trainer = kind(model, config.training, self.machine.precision)
        self.feed = Feed(data, config.training, device)
        self.state = RunState()
        self.saved = -1  # the step of the last checkpoint
        self._last_save = time.monotonic()
        self._seconds, self._tokens = 0.0, 0

    @property
    def step(self) -> int:
        """Number of steps taken."""
        return self.trainer.steps

    @property
    def is_at_end(self) -> bool:
        """Whether all steps have been taken."""
        return self.step >= self.config.training.max_steps

    @property
    def is_out_of_patience(self) -> bool:
        """Whether too many validations in a row were no better than the best."""
        return 0 < self.config.training.patience <= self.state.since_best

    @property
    def is_checkpoint_due(self) -> bool:
        """Whether a checkpoint of this step belongs to the series that is averaged at the end."""
        return self.is_at_end or self.step % self.config.training.checkpoint_every == 0

    @property
    def is_save_due(self) -> bool:
        """Whether the last checkpoint is so old that one beside the series should be written."""
        is_old = time.monotonic() - self._last_save > MAX_UNSAVED_SECONDS
        return bool(*parallel.maximum([is_old]))  # all ranks decide alike

    @property
    def is_validation_due(self) -> bool:
        """Whether this step should be validated and has not been."""
        is_on_schedule = self.is_at_end or self.step % self.config.training.validate_every == 0
        return is_on_schedule and self.step > self.state.validated

    def begin(self) -> None:
        """Write ``run.json``; a directory without ``run.json`` is not a run."""
        if not self.directory.started:
            self.directory.write_record(self.record)

    def advance(self) -> list[Event]:
        """Take one optimizer step on the next data and log it.

        Raises:
            HeadwayError: If the training has diverged too often.
        """
        started = time.perf_counter()
        data = self.feed.next()
        with thread_count(self.machine.threads_per_rank):
            report = self.trainer.step(data)
        self.directory.metrics.write(event="step", **to_values(report))
        self._log_speed(report, time.perf_counter() - started)
        events: list[Event] = [report]
        self.state.failures = self.state.failures + 1 if report.skipped else 0
        if report.skipped:
            self.state.skipped += 1
            pairs = [
                self.data.read_pair(int(n)) for batch in data.batches for n in batch.pair_indices
            ]
            path = self.directory.write_bad_batch(self.step, parallel.rank(), pairs)
            events.append(
                Notice(
                    text=f"step {self.step}: loss or gradient is not finite; the step was skipped, and its text is in {path}"
                )
            )
        has_diverged = self.state.failures >= self.config.training.max_failures
        if has_diverged or (
            (self.is_checkpoint_due or self.is_validation_due) and not self.trainer.finite()
        ):
            events.append(self._roll_back())
        return events

    def save(self) -> None:
        """Write a checkpoint of this step, unless there is one or a weight is not finite."""
        if self.saved == self.step or not self.trainer.finite():
            return
        started = time.perf_counter()
        self.state.epoch, self.state.block, self.state.index = self.feed.position
        tensors = self.trainer.tensors()
        is_in_series = self.step % self.config.training.checkpoint_every == 0
        series = (
            {*self.state.series, self.step} if is_in_series and self._is_new else self.state.series
        )
        self.state.series = sorted(series)[-self.config.training.average :]
        if parallel.rank() == 0:
            self.directory.save(self.step, tensors, self.state, self.record.identity)
            self.directory.prune(self.state.series)
            seconds = time.perf_counter() - started
            self.directory.timings.write(event="checkpoint", step=self.step, seconds=seconds)
        parallel.wait_for_first()
        self.saved, self._last_save = self.step, time.monotonic()

    def validate(self) -> Iterator[Event]:
        """Validate the present weights, and keep them if they are the best so far."""
        model = self.trainer.whole_model()
        report = yield from self._validate(model)
        is_better = report.is_better_than(self.state.best)
        self.directory.metrics.write(event="validation", **to_values(report), best=is_better)
        if is_better:
            self.state.best, self.state.since_best = report, 0
            write_model(self, self.directory.best, model, report)
        else:
            self.state.since_best += 1
        install_model(self, model, report)
        self.state.validated = self.step
        yield report

    def finish(self) -> Iterator[Event]:
        """Average the last checkpoints, install the average if it is better, end the run, and take its end steps."""
        steps = self.averaged_steps()
        if len(steps) > 1:
            model = self.average(steps)
            report = yield from self._validate(model, averaged=len(steps))
            self.directory.metrics.write(event="validation", **to_values(report), checkpoints=steps)
            write_model(self, self.directory.averaged, model, report)
            install_model(self, model, report)
            yield report
        self.record.finished, self.record.learned = True, []
        self.directory.write_record(self.record)
        yield from take_end_steps(self.directory, self.data, self.record)

    def averaged_steps(self) -> list[int]:
        """Return the steps of the last checkpoints, which are averaged at the end."""
        last = {self.step} if self._is_new else set()
        return sorted({*self.state.series, *last} - {0})[-self.config.training.average :]

    def average(self, steps: Sequence[int]) -> Network:
        """Return a model with the mean weights of the checkpoints of these steps.

        Raises:
            HeadwayError: If one of them is damaged, or of another run; it names the way on without it.
        """
        for step in steps:
            with self._name_way_on(step):
                self.directory.check_weights(step, self.record.identity)
        model = self.trainer.whole_model()
        if model is self.trainer.model:  # otherwise it is a copy already
            model = copy.deepcopy(model)
        model.load_state_dict(average_weights([self.directory.weights(step) for step in steps]))
        return model

    @property
    def _is_new(self) -> bool:
        """Whether the weights are others than those of the checkpoint that the run went back to, if it did."""
        returned = self.state.rolled_back
        return not returned or self.step - returned > self.state.failures

    def _roll_back(self) -> Notice:
        """Go back to the weights and optimizer of the series' newest checkpoint, and continue with new data.

        There may be a newer checkpoint beside the series. It is of a moment that a clock or a signal chose, and the
        result of a run depends on neither.
        """
        newest = max(filter(self.directory.is_resumable, self.state.series), default=self.saved)
        settings = self.config.training
        if self.step - self.state.rolled_back > settings.checkpoint_every + settings.max_failures:
            self.state.roll_backs = 0
        if self.state.roll_backs == MAX_ROLL_BACKS:
            raise HeadwayError(
                f"{self.directory.path}: step {self.step} diverged after {MAX_ROLL_BACKS} returns to"
                " earlier weights: read the text in bad-batches/, or start another RUN with"
                f" --data {self.data.directory} and a lower training.rate_scale or more"
                " training.warmup_steps"
            )
        with self._name_way_on(newest):
            tensors, _ = self.directory.load(newest, self.record.identity)
        self.trainer.load(tensors)
        self.state.roll_backs += 1
        self.state.rolled_back = self.step
        self.state.failures = 0
        self.directory.metrics.write(event="roll-back", step=self.step, to=newest)
        return Notice(text=f"step {self.step}: went back to the weights of step {newest}")

    @contextmanager
    def _name_way_on(self, step: int) -> Iterator[None]:
        """Let the error about the checkpoint of a step end with what the user can do."""
        try:
            yield
        except OtherVersionError:
            raise
        except HeadwayError as error:
            place = self.directory.checkpoint(step)
            raise HeadwayError(
                f"{error}: delete {place}, and the same command goes on without it"
            ) from None

    def _validate(
        self, model: Network, averaged: int = 1
    ) -> Generator[ProgressReport, None, ValidationReport]:
        started = time.perf_counter()
        settings = self.config.training
        report = yield from validate(
            model,
            self.data,
            SearchConfig(beam=settings.validation_beam),
            batch_tokens=settings.micro_batch_tokens,
            sentences=settings.validation_sentences,
            step=self.step,
            averaged=averaged,
        )
        seconds = time.perf_counter() - started
        self.directory.timings.write(event="validation", step=self.step, seconds=seconds)
        return report

    def _log_speed(self, report: StepReport, seconds: float) -> None:
        self._tokens += report.tokens
        self._seconds += seconds
        if report.step % TIMING_STEPS:
            return
        (memory,) = parallel.sum_counts([peak_memory(self.trainer.device)])
        self.directory.timings.write(
            event="steps",
            step=report.step,
            time=time.time(),
            tokens_per_second=self._tokens / self._seconds,
            peak_memory_bytes=memory,
        )
        self._seconds, self._tokens = 0.0, 0


def take_end_steps(
    directory: RunDirectory, data: PreparedData, record: RunRecord
) -> Iterator[Event]:
    """Take the steps of extensions at the end of a finished run that it has not taken yet.

    One that fails gives a notice, and the next resume takes it again.

    Args:
        directory: Of the run.
        data: Its data.
        record: Of the run; the steps that are taken are added to it.
    """
    for _, step in load_all("end_steps"):
        if step.FILE in record.learned or not step.wants(record.settings):
            continue
        try:
            yield from step.learn(directory, data, str(record.machine.torch_device))
        except LostRankError:
            raise
        except Exception as error:  # of any kind: this runs code of an extension
            reason = str(error) if isinstance(error, HeadwayError) else repr(error)
            yield Notice(
                text=f"{directory.path / step.FILE}: not learned ({reason}): the same command tries again"
            )
            continue
        record.learned.append(step.FILE)
        directory.write_record(record)


def run_to_end(run: Run) -> Generator[Event, None, None]:
    """Train to the end and yield what happens; a caller that stops early leaves a saved run.

    With several ranks, the caller saves it (`Run.save`) when all ranks stop after the same event: a rank that
    stops alone, because of an error, cannot write a checkpoint without the others.

    A checkpoint holds the state before the validation of its step, so a run that is resumed from it
    validates.

    A dry run precedes a new run. Only then is `run.json` written, which makes its directory a run.

    Args:
        run: New or resumed. A caller that stops early closes the iterator (`contextlib.closing`).

    Yields:
        A `StepReport` for each step, `ProgressReport` during and a `ValidationReport` after each
        validation, and a `Notice` for each message to the user.
    """
    with explain_write_errors(run.directory.path):
        if not run.directory.started:
            dry_run = make_dry_run(run)
            run.begin()
            yield Notice(text=f"{run.directory.path}: {dry_run}")
        try:
            while True:
                if run.is_checkpoint_due or run.is_save_due:
                    run.save()
                if run.is_validation_due:
                    yield from run.validate()
                if run.is_at_end or run.is_out_of_patience:
                    break
                yield from run.advance()
            run.save()
            yield from run.finish()
        except GeneratorExit:
            if parallel.world_size() == 1:
                run.save()
            raise
