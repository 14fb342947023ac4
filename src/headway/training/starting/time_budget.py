"""`--minutes`: the length of a training that is to take a given time: measured once, before the run begins."""

import math
import time
from dataclasses import dataclass

import torch

from headway.config import TrainingConfig
from headway.errors import UsageError
from headway.training import parallel
from headway.training.dry_run import try_checkpoint, try_validation
from headway.training.machine import kept_generators, thread_count
from headway.training.run import Run

# Steps are measured for five seconds, or for a tenth of the given time if that is less; but at least three of them.
MEASURING_SECONDS, MEASURING_SHARE, MIN_STEPS = 5.0, 0.1, 3
SENTENCES = (4, 36)  # translated to measure a validation
# Validations take at most a fifth of the given time, and checkpoints at most a tenth.
VALIDATING_SHARE, SAVING_SHARE = 0.2, 0.1


@dataclass(frozen=True)
class Pace:
    """What a run takes, in seconds: the slowest of its ranks.

    Attributes:
        step: A step.
        validation: A validation, if translations are as long as their sources.
        checkpoint: A checkpoint.
    """

    step: float
    validation: float
    checkpoint: float = 0.0


def measure_pace(run: Run, minutes: float) -> Pace:
    """Measure the seconds of a step, a validation and a checkpoint. The run has other weights afterwards: do not train it.

    Args:
        run: New.
        minutes: The time that it is to take; a tenth of it, or less, is spent on steps here.
    """
    limit = min(MEASURING_SECONDS, 60 * MEASURING_SHARE * minutes)
    with kept_generators(run.trainer.device), thread_count(run.machine.threads_per_rank):
        run.trainer.step(run.feed.next())  # the first one is slower
        started, steps, is_done = time.perf_counter(), 0, False
        while not is_done:
            run.trainer.step(run.feed.next())
            steps += 1
            elapsed = time.perf_counter() - started
            is_done = bool(*parallel.maximum([steps >= MIN_STEPS and elapsed >= limit]))
    found = [elapsed / steps, _time_validation(run), try_checkpoint(run)]
    if run.trainer.device.type == "cuda":  # so that the dry run tells what the run itself takes
        torch.cuda.reset_peak_memory_stats(run.trainer.device)
    return Pace(*(micro / 1e6 for micro in parallel.maximum([round(1e6 * s) for s in found])))


def _time_validation(run: Run) -> float:
    settings = run.config.training
    # An untrained model ends no sentence, so that the search does.
    times = [try_validation(run, sentences, max_extra=0) for sentences in SENTENCES]
    pairs = len(run.data.valid)
    rest = min(settings.validation_sentences or pairs, pairs) - SENTENCES[0]
    each = max(0.0, times[1] - times[0]) / (SENTENCES[1] - SENTENCES[0])
    return times[0] + max(0, rest) * each


def fill_time(settings: TrainingConfig, minutes: float, pace: Pace) -> TrainingConfig:
    """Return a training regime of another length, which takes a given time; see `TrainingConfig.of_length`.

    Raises:
        UsageError: If the time is too short for one step and one validation.
    """
    seconds = 60 * minutes
    validations, checkpoints = (
        max(1, min(settings.max_steps // every, int(share * seconds / max(each, 1e-6))))
        for every, share, each in (
            (settings.validate_every, VALIDATING_SHARE, pace.validation),
            (settings.checkpoint_every, SAVING_SHARE, pace.checkpoint),
        )
    )
    of_average = 1 if settings.average > 1 else 0
    others = (validations + of_average) * pace.validation + checkpoints * pace.checkpoint
    steps = int((seconds - others) / max(pace.step, 1e-6))
    if steps < 1:
        least = pace.step + (1 + of_average) * pace.validation + pace.checkpoint
        raise UsageError(
            f"--minutes {minutes:g}: a step takes {pace.step:.2f} s here, and a validation {pace.validation:.1f} s:"
            f" give {math.ceil(least / 6) / 10:g} or more"
        )
    return settings.of_length(
        steps,
        validate_every=math.ceil(steps / validations),
        checkpoint_every=math.ceil(steps / checkpoints),
    )
