"""The files of a training run."""

import json
import os
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from headway.errors import HeadwayError
from headway.files import (
    OtherVersionError,
    check_writer,
    hash_file,
    read_small_file,
    remove,
    remove_leftovers,
    replace_bytes,
    replace_text,
    temporary_path,
)
from headway.locks import DirectoryLock
from headway.training import parallel
from headway.training.storage.checkpoint import (
    DIGESTS,
    OPTIMIZER,
    STATE,
    check_digests,
    explain_write_errors,
    read_checkpoint,
    read_state,
    write_checkpoint,
)
from headway.training.storage.log import Log
from headway.training.storage.record import RunRecord, RunState, to_values
from headway.translation.directory import WEIGHTS

FORMAT = 1
MOST_RECORD_BYTES = 1 << 26
STEP = re.compile(r"step-([0-9]{8}|[1-9][0-9]{8,})")  # the name of a checkpoint
RESUMABLE = 2  # checkpoints with optimizer state: if the newest is damaged, the other is used
WAY_ON = (
    "its model still translates: start another RUN, which may begin with its weights (--init {})"
)
# An interrupted start may leave these files in a directory that is not a run yet.
START_FILES = (
    "data", "config.json", "tokenizer.model", "source.model", "target.model",
    "labels.json",
)  # fmt: skip


class RunDirectory:
    """A run on disk.

    ``run.json`` (see `RunRecord`) makes a directory a run; it is written after the dry run.
    ``metrics.jsonl`` holds numbers that depend on data, settings and seed alone, and ``timings.jsonl``
    what was measured with a clock.

    Args:
        path: The directory; it need not exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.data = self.path / "data"
        self.best = self.path / "best"
        self.averaged = self.path / "averaged"
        self.checkpoints = self.path / "checkpoints"
        self.metrics = Log(self.path / "metrics.jsonl")
        self.timings = Log(self.path / "timings.jsonl")
        self._lock = DirectoryLock(self.path)

    @property
    def started(self) -> bool:
        """Whether a run was started here."""
        return (self.path / "run.json").is_file()

    def check_record_exists(self) -> None:
        """Check that the record was not lost.

        Raises:
            HeadwayError: If there are checkpoints, but no ``run.json``.
        """
        if not self.started and self.steps():
            raise HeadwayError(
                f"{self.path / 'run.json'}: missing, but there are checkpoints: restore the file, or give"
                " another RUN"
            )

    def lock_with_parent(self) -> None:
        """Work here under the lock of the process that has started this one, until `unlock`."""
        self._lock.acquire(is_held=True)

    def lock(self) -> None:
        """Become the one process that trains here, until `unlock` or until the process ends.

        Raises:
            HeadwayError: If another process trains here, or the directory holds other files.
        """
        try:
            if self.path.is_file():
                raise HeadwayError(f"{self.path}: is a file: give another RUN")
            self.path.mkdir(parents=True, exist_ok=True)
            names = {entry.name for entry in self.path.iterdir() if entry.name[0] != "."}
        except OSError as error:
            raise HeadwayError(
                f"{self.path}: no run can be written here ({error.strerror}): give another RUN"
            ) from None
        foreign = names.difference(START_FILES)
        if not (self.data / "data.json").is_file():  # not what `headway.text.preparation` wrote
            foreign |= names & {"data"}
        if foreign and not self.started:
            raise HeadwayError(f"{self.path}: holds {min(foreign)}, but no run: give another RUN")
        self._lock.acquire()
        with explain_write_errors(self.path):
            self.tidy()

    def check_lock(self) -> None:
        """Check that the directory was not removed, or replaced by another, since `lock`.

        Raises:
            HeadwayError: If it was.
        """
        if self._lock.is_lost:
            raise HeadwayError(
                f"{self.path}: was removed while the run used it: the training ends, and its steps"
                " since the last checkpoint are lost"
            )

    def unlock(self) -> None:
        """Let another process train here; delete the directory if nothing was written to it."""
        self.metrics.close()
        self.timings.close()
        self._lock.release()

    def record(self) -> RunRecord:
        """Read ``run.json``.

        Raises:
            OtherVersionError: If another Headway wrote it, and this one does not resume the run.
            HeadwayError: If it is missing or damaged.
        """
        path = self.path / "run.json"
        if not path.exists():
            raise HeadwayError(f"{self.path}: no run.json: give a run directory")
        try:
            values = read_small_file(path, FORMAT, MOST_RECORD_BYTES)
            del values["format"]
            with check_writer(path, values, WAY_ON.format(self.path)):
                return RunRecord.from_dict(values)
        except OtherVersionError:
            raise
        except (ValueError, TypeError) as error:
            raise HeadwayError(
                f"{path}: not the record of a run ({error}): restore the file, or start another RUN; the"
                f" prepared text is in {self.data}"
            ) from None

    def write_record(self, record: RunRecord) -> None:
        """Write ``run.json``, on rank 0."""
        if parallel.rank():
            return
        self.check_lock()
        values = {"format": FORMAT, **record.to_dict()}
        content = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        replace_text(self.path / "run.json", content)

    def steps(self) -> list[int]:
        """Return the steps that have a checkpoint, in ascending order.

        Raises:
            HeadwayError: If the directory of the checkpoints cannot be read; one that does not exist has no steps.
        """
        if not os.path.lexists(self.checkpoints):  # a link to nowhere is a disk that is not there
            return []
        try:
            names = [entry.name for entry in self.checkpoints.iterdir()]
        except OSError as error:
            raise HeadwayError(
                f"{self.checkpoints}: cannot be read ({error.strerror}): restore the directory, or give another RUN"
            ) from None
        return sorted(int(match[1]) for match in map(STEP.fullmatch, names) if match)

    def save(
        self, step: int, tensors: Mapping[str, Mapping[str, Tensor]], state: RunState, identity: str
    ) -> None:
        """Write the checkpoint of a step, after the lines of the logs that it counts are on disk.

        Args:
            step: The step.
            tensors: File name without suffix -> tensor name -> tensor.
            state: Gets the lengths of the logs.
            identity: Of the run: see `RunRecord`.
        """
        self.check_lock()
        state.metrics_bytes, state.timings_bytes = self.metrics.size(), self.timings.size()
        state.metrics_sha256 = self.metrics.sha256()
        self.checkpoints.mkdir(exist_ok=True)
        values = {"step": step, "run": identity, **to_values(state)}
        write_checkpoint(self.checkpoint(step), tensors, values)

    def load(self, step: int, identity: str) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
        """Read the checkpoint of a step: its tensors and its state.

        Args:
            step: The step.
            identity: Of the run: see `RunRecord`.

        Raises:
            HeadwayError: If a file is missing, damaged or changed, or of another step or run.
        """
        path = self.checkpoint(step)
        tensors, state = read_checkpoint(path)
        self._check_state(step, identity, state)
        if Path(OPTIMIZER).stem not in tensors:
            raise HeadwayError(f"{path / OPTIMIZER}: missing")
        return tensors, state

    def check_weights(self, step: int, identity: str) -> None:
        """Check that the weights of a checkpoint are those that the run wrote; see `load`."""
        check_digests(self.checkpoint(step), self.weights(step).name, STATE)
        self._check_state(step, identity, read_state(self.checkpoint(step)))

    def _check_state(self, step: int, identity: str, state: Mapping[str, object]) -> None:
        file = self.checkpoint(step) / STATE
        with check_writer(file, state):
            if state.get("step") != step:
                raise HeadwayError(f"{file}: not the state of step {step}")
            if state.get("run") != identity:
                raise HeadwayError(f"{file}: of another run")

    def checkpoint(self, step: int) -> Path:
        """Return the directory of a step's checkpoint, which need not exist."""
        return self.checkpoints / f"step-{step:08d}"

    def weights(self, step: int) -> Path:
        """Return the file with the weights of a checkpoint."""
        return self.checkpoint(step) / "model.safetensors"

    def is_resumable(self, step: int) -> bool:
        """Return whether the checkpoint of a step has the state of the optimizer, which an average does not need."""
        return (self.checkpoint(step) / OPTIMIZER).is_file()

    def prune(self, series: Collection[int]) -> None:
        """Delete the checkpoints that no one needs: all but the series, the newest, and so many that a resume can use.

        Of those that stay, only the newest keep their optimizer state. A resume needs it; the others are kept
        because their weights are averaged at the end.

        Args:
            series: Steps of the checkpoints that are averaged.
        """
        steps = self.steps()
        needed = {*series, *steps[-1:]}.intersection(steps)
        by_need = sorted(steps, key=lambda step: (step in needed, step))
        kept = sorted(by_need[-max(len(needed), RESUMABLE) :])
        for step in {*steps}.difference(kept):
            self.checkpoint(step).rename(temporary_path(self.checkpoint(step)))
        remove_leftovers(self.checkpoints)
        for step in kept[:-RESUMABLE]:
            self._remove_optimizer(step)

    def _remove_optimizer(self, step: int) -> None:
        """Delete the optimizer state of a checkpoint that is kept only for its weights.

        The list of digests changes first: what it does not list is not needed.
        """
        sums = self.checkpoint(step) / DIGESTS
        if not self.is_resumable(step) or not sums.is_file():  # a damaged one stays as it is
            return
        lines = sums.read_bytes().splitlines(keepends=True)
        others = [line for line in lines if not line.rstrip().endswith(OPTIMIZER.encode())]
        replace_bytes(sums, b"".join(others))
        (self.checkpoint(step) / OPTIMIZER).unlink()

    def set_aside(self, step: int) -> None:
        """Rename a damaged checkpoint, so that it no longer counts as one."""
        path = self.checkpoint(step)
        aside = path.with_name(f"damaged-{path.name}")
        remove(aside)
        path.rename(aside)

    def list_installed(self) -> list[Path]:
        """Return the directories that hold the installed model: the run itself, and those with the same weights."""
        installed = hash_file(self.path / WEIGHTS)
        copies = [path for path in (self.best, self.averaged) if (path / WEIGHTS).is_file()]
        return [self.path, *(path for path in copies if hash_file(path / WEIGHTS) == installed)]

    def tidy(self) -> None:
        """Delete files that an interrupted run has left unfinished."""
        for folder in (self.path, self.best, self.averaged, self.checkpoints):
            remove_leftovers(folder)

    def cut_logs(self, state: RunState) -> list[str]:
        """Cut the logs to the lengths that they had when the checkpoint of a state was written.

        Returns:
            What the user should know, a line each.
        """
        notices = []
        for log, size, sha256 in (
            (self.metrics, state.metrics_bytes, state.metrics_sha256),
            (self.timings, state.timings_bytes, ""),
        ):
            if log.path.exists():
                log.cut(size, sha256)
            elif size:
                notices.append(f"{log.path}: missing: a new file begins here")
        return notices

    def write_bad_batch(self, step: int, rank: int, pairs: Iterable[tuple[str, str]]) -> Path:
        """Write the text of a step whose loss or gradient was not finite, for a person to read."""
        path = self.path / "bad-batches" / f"step-{step}{f'-{rank}' if rank else ''}.txt"
        path.parent.mkdir(exist_ok=True)
        lines = [f"{source}\n{target}\n\n" for source, target in pairs]
        replace_text(path, "".join(lines))
        return path
