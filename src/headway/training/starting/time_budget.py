"""The length of a training that is to take a given time: measured once, before the run begins."""

import math
import time
from dataclasses import dataclass

from headway.config import SearchConfig, TrainingConfig
from headway.errors import UsageError
from headway.training import parallel
from headway.training.machine import kept_generators, thread_count
from headway.training.run import Run
from headway.training.validation import validate

LONGEST = 5.0  # seconds that steps are measured for, or
SHARE = 0.1  # of the given time
FEWEST = 3  # steps that are measured, after one more
SENTENCES = (4, 36)  # translated to measure a validation
VALIDATING = 0.2  # of the given time that validations take at most


@dataclass(frozen=True)
class Pace:
    """What a run takes, in seconds: the slowest of its ranks.

    Attributes:
        step: A step.
        validation: A validation, if translations are as long as their sources.
    """

    step: float
    validation: float


def measure_pace(run: Run, seconds: float) -> Pace:
    """Measure a run, which is used up: its weights have changed.

    Args:
        run: New.
        seconds: The time that it is measured for.
    """
    settings = run.config.training
    with kept_generators(run.trainer.device), thread_count(run.machine.threads_per_rank):
        run.trainer.step(run.feed.next())  # the first one is slower
        started, steps, is_done = time.perf_counter(), 0, False
        while not is_done:
            run.trainer.step(run.feed.next())
            steps += 1
            elapsed = time.perf_counter() - started
            is_done = bool(*parallel.maximum([steps >= FEWEST and elapsed >= seconds]))
    # An untrained model ends no sentence, so that the search does.
    search = SearchConfig(beam=settings.validation_beam, max_extra=0)
    model, times = run.trainer.whole_model(), []
    for sentences in SENTENCES:
        started = time.perf_counter()
        tokens = settings.micro_batch_tokens
        for _ in validate(model, run.data, search, batch_tokens=tokens, sentences=sentences):
            pass
        times.append(time.perf_counter() - started)
    pairs = len(run.data.valid)
    rest = min(settings.validation_sentences or pairs, pairs) - SENTENCES[0]
    each = max(0.0, times[1] - times[0]) / (SENTENCES[1] - SENTENCES[0])
    found = [elapsed / steps, times[0] + rest * each]
    step, validation = parallel.maximum([round(1e6 * number) for number in found])
    return Pace(step / 1e6, validation / 1e6)


def fill_time(settings: TrainingConfig, minutes: float, pace: Pace) -> TrainingConfig:
    """Return a training regime of another length, which takes a given time; see `TrainingConfig.of_length`.

    Raises:
        UsageError: If the time is too short for one step and one validation.
    """
    seconds = 60 * minutes
    count = max(1, settings.max_steps // settings.validate_every)
    count = max(1, min(count, int(VALIDATING * seconds / max(pace.validation, 1e-6))))
    of_average = 1 if settings.average > 1 else 0
    steps = int((seconds - (count + of_average) * pace.validation) / max(pace.step, 1e-6))
    if steps < 1:
        least = (pace.step + (1 + of_average) * pace.validation) / 60
        raise UsageError(
            f"--minutes {minutes:g}: a step takes {pace.step:.2f} s here, and a validation {pace.validation:.1f} s:"
            f" give {math.ceil(10 * least) / 10:g} or more"
        )
    return settings.of_length(steps, validate_every=math.ceil(steps / count))
