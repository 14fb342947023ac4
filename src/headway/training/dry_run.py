"""The dry run: before step 1, do once everything that a run will do, and estimate its cost.

Without it, runs fail at their first validation, their longest batch or a full disk, hours later.
"""

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headway.config import SearchConfig, TrainingConfig
from headway.errors import HeadwayError, is_out_of_memory
from headway.files import remove, temporary_path
from headway.text.batches import Rows
from headway.text.shards import SIDES
from headway.training import parallel
from headway.training.machine import kept_generators, peak_memory
from headway.training.storage.checkpoint import Tensors, read_checkpoint, write_checkpoint
from headway.training.storage.run_directory import RESUMABLE
from headway.training.validation import validate

if TYPE_CHECKING:
    from headway.training.run import Run

SENTENCES = 4  # translated in the dry run


@dataclass(frozen=True, kw_only=True)
class DryRun:
    """The estimated cost of a run.

    Attributes:
        memory: Sum of the ranks' peaks on their devices, in bytes.
        tokens_per_second: Target tokens trained per second.
        tokens_per_step: Target tokens of a mean step.
        seconds: Time of all steps, without validations.
        disk: Bytes that the run occupies at most.
        free: Bytes free on that disk.
    """

    memory: int
    tokens_per_second: float
    tokens_per_step: float
    seconds: float
    disk: int
    free: int

    def __str__(self) -> str:
        hours, minutes = divmod(round(self.seconds / 60), 60)
        length = f"{hours} h {minutes:02} min" if self.seconds >= 100 else f"{self.seconds:.0f} s"
        return (
            f"{self.tokens_per_second:,.0f} target tokens/s, {self.tokens_per_step:,.0f} per step;"
            f" {length} of training; {self.memory / 1e9:.1f} GB of memory,"
            f" {self.disk / 1e9:.2f} GB of disk ({self.free / 1e9:.0f} GB free)"
        )


def make_dry_run(run: "Run") -> DryRun:
    """Try the largest batch, a validation and a checkpoint; the run is exactly as before.

    Raises:
        HeadwayError: If memory or disk is too small, or a checkpoint cannot be read back.
    """
    _check_positions(run)
    with kept_generators(run.trainer.device):
        rate = _time_batches(run)
        try_validation(run, SENTENCES)
    settings = run.config.training
    tensors = run.trainer.tensors()
    disk, free = _estimate_disk(settings, tensors), shutil.disk_usage(run.directory.path).free
    if disk > free:
        raise HeadwayError(
            f"{run.directory.path}: the run needs {disk:,} bytes of disk and {free:,} are free:"
            " free some, or keep fewer checkpoints with training.average"
        )
    try_checkpoint(run)
    # The first block of a large corpus stands for all of it.
    plan = run.feed.plan(run.feed.position)
    pairs = sum(map(len, plan)) * min(run.feed.micro_batches, len(plan)) / len(plan)  # of a step
    tokens_per_step = run.data.train.target_tokens * pairs / len(run.data.train)
    return DryRun(
        memory=parallel.sum_counts([peak_memory(run.trainer.device)])[0],
        tokens_per_second=rate,
        tokens_per_step=tokens_per_step,
        seconds=settings.max_steps * tokens_per_step / rate,
        disk=disk,
        free=free,
    )


def _check_positions(run: "Run") -> None:
    """Check that a learned table of positions is as long as all text, which may have been prepared for a longer one."""
    shape = run.config.model
    for corpus in (run.data.train, run.data.valid) if shape.positions == "learned" else ():
        longest = max(map(corpus.find_longest, SIDES))
        if longest > shape.max_positions:
            raise HeadwayError(
                f"{corpus.directory}: a text has {longest} tokens, more than model.max_positions ="
                f" {shape.max_positions}: give --model.max-positions {longest}, or shorter lines"
            )


def _time_batches(run: "Run") -> float:
    """Compute the gradient of the largest batch, then of a median one; return its tokens per second.

    A GPU computes the median one twice: the first time, it may be recorded.
    """
    corpus = run.data.train

    def padded(rows: Rows) -> int:
        sides = corpus.source_lengths[rows], corpus.target_lengths[rows]
        if run.config.training.packed:
            return int(sum(side.sum() for side in sides))
        return int(sum(side.max() for side in sides)) * len(rows)

    by_size = sorted(run.feed.plan(run.feed.position), key=padded)
    run.trainer.set_training_mode()
    rate = 0.0
    is_cpu = run.trainer.device.type == "cpu"
    largest, median = by_size[-1], by_size[len(by_size) // 2]
    for rows in (largest, median) if is_cpu else (largest, median, median):
        batch = run.feed.batch(rows)
        started = time.perf_counter()
        try:
            # A GPU has no memory but its own, so all that a step holds must be there now.
            partial_sums = [] if is_cpu else run.trainer.make_partial_sums()
            run.trainer.compute(batch, batch.target_tokens)[-1].tolist()
            del partial_sums
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise HeadwayError(
                f"training.micro_batch_tokens = {run.config.training.micro_batch_tokens}: the"
                f" largest batch ({padded(rows):,} padded tokens) does not fit in the memory of"
                f" {run.trainer.device}: set it lower; a step then accumulates more micro-batches"
            ) from None
        # All ranks compute such a batch at the same time.
        rate = parallel.world_size() * batch.target_tokens / (time.perf_counter() - started)
    return rate


def _estimate_disk(settings: TrainingConfig, tensors: Mapping[str, Tensors]) -> int:
    """Return the bytes that a run occupies at most, with a checkpoint of these tensors."""
    weights, others = (
        sum(tensor.nbytes for name in names for tensor in tensors[name].values())
        for names in (["model"], tensors.keys() - {"model"})
    )
    series = min(settings.average, settings.max_steps // settings.checkpoint_every + 1)
    # Besides the weights that are averaged, a checkpoint that guards against loss, a new one, and four models.
    # Two checkpoints that a resume can use, and the new one, have optimizer state too.
    return weights * (series + 6) + others * (RESUMABLE + 1)


def try_validation(run: "Run", sentences: int, max_extra: int = SearchConfig.max_extra) -> float:
    """Validate a run, with so many sentences translated, and return the seconds; ``max_extra`` limits the translations."""
    started, settings = time.perf_counter(), run.config.training
    for _ in validate(
        run.trainer.whole_model(),
        run.data,
        SearchConfig(beam=settings.validation_beam, max_extra=max_extra),
        batch_tokens=settings.micro_batch_tokens,
        sentences=sentences,
    ):
        pass
    return time.perf_counter() - started


def try_checkpoint(run: "Run") -> float:
    """Write a checkpoint, read it back and delete it; return the seconds of the writing."""
    started = time.perf_counter()
    tensors = run.trainer.tensors()
    # A temporary name: if the process is killed, the next start deletes the checkpoint.
    path = temporary_path(run.directory.path / "dry-run")
    if parallel.rank() == 0:
        try:
            write_checkpoint(path, tensors, {})
            seconds = time.perf_counter() - started
            read_checkpoint(path)
        finally:
            remove(path)
    parallel.wait_for_first()
    return seconds if parallel.rank() == 0 else 0.0
