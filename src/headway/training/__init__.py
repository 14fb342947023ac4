"""Objective, learning rate, steps, checkpoints and runs; it prints nothing."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from headway.errors import HeadwayError
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.training.machine import (
        Machine,
        configure_process,
        count_ranks,
        peak_memory,
        seed_generators,
        thread_count,
    )
    from headway.training.run import Event, Notice, Run
    from headway.training.starting.opening import open_run
    from headway.training.starting.plan import planned, with_vocabulary
    from headway.training.starting.request import RunRequest, refuse_kind
    from headway.training.steps.feed import Feed
    from headway.training.steps.gradient_sum import Gradient
    from headway.training.steps.objective import plain_loss
    from headway.training.steps.optimizers import learning_rate, make_optimizers
    from headway.training.steps.trainer import Step, Trainer
    from headway.training.storage.run_directory import RunDirectory
    from headway.training.validation import (
        ProgressReport,
        ValidationReport,
        list_texts,
        perplexity_of,
    )

if find_spec("fcntl") is None or find_spec("resource") is None:
    raise HeadwayError("training needs Linux or macOS (on Windows: its subsystem for Linux)")

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
