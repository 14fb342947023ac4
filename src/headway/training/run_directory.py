"""The files of a training run, and the lock that lets only one process write them."""

import fcntl
import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

from torch import Tensor

from headway.errors import HeadwayError
from headway.files import remove_leftovers
from headway.training.checkpoint import (
    checkpoint_path,
    checkpoint_steps,
    explain_write_errors,
    prune_checkpoints,
    read_checkpoint,
    replace_file,
    write_checkpoint,
)
from headway.training.log import Log
from headway.training.record import RunRecord
from headway.training.stored_values import build

FORMAT = 1
LOCK = ".lock"
# An interrupted start may leave these files in a directory that is not a run yet.
START_FILES = (
    "data", "config.json", "tokenizer.model", "source.model", "target.model",
    "labels.json",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LogLengths:
    """The logs when a checkpoint was written, as its ``state.json`` records them.

    Attributes:
        metrics_bytes: Length of ``metrics.jsonl``.
        timings_bytes: Length of ``timings.jsonl``.
        metrics_sha256: Of ``metrics.jsonl``; empty: unknown.
    """

    metrics_bytes: int = 0
    timings_bytes: int = 0
    metrics_sha256: str = ""

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> "LogLengths":
        """Take the lengths out of what ``state.json`` holds.

        Raises:
            ValueError: If a length is missing or no number.
        """
        names = {field.name for field in fields(cls)}
        return build(cls, {name: value for name, value in values.items() if name in names})


class RunDirectory:
    """A run on disk.

    ``run.json`` (see `RunRecord`) makes a directory a run; it is written after the rehearsal.
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
        self._lock: IO[str] | None = None

    @property
    def started(self) -> bool:
        """Whether a run was started here."""
        return (self.path / "run.json").is_file()

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
        if not self.started and (foreign := sorted(names.difference(START_FILES))):
            raise HeadwayError(f"{self.path}: holds {foreign[0]}, but no run: give another RUN")
        with explain_write_errors(self.path, 0):
            lock = (self.path / LOCK).open("a+", encoding="utf-8")
        try:
            # The kernel releases the lock when the process ends, even by kill -9.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read() or "?"
            lock.close()
            raise HeadwayError(
                f"{self.path}: process {holder} is training here already; wait for it, stop it,"
                " or give another RUN"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        self._lock = lock
        self.tidy()

    def unlock(self) -> None:
        """Let another process train here; delete the directory if nothing was written to it."""
        self.metrics.close()
        self.timings.close()
        if self._lock is not None:
            if self.path.is_dir() and [entry.name for entry in self.path.iterdir()] == [LOCK]:
                (self.path / LOCK).unlink()
                self.path.rmdir()
            self._lock.close()
            self._lock = None

    def record(self) -> RunRecord:
        """Read ``run.json``.

        Raises:
            HeadwayError: If it is missing or damaged, or of another format.
        """
        path = self.path / "run.json"
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(values, dict):
                raise ValueError("not an object")
            found = values.pop("format", None)
            if found != FORMAT:
                raise HeadwayError(
                    f"{path}: format {found}, but this Headway reads format {FORMAT}"
                )
            return RunRecord.from_dict(values)
        except FileNotFoundError:
            raise HeadwayError(f"{self.path}: no run.json: give a run directory") from None
        except HeadwayError:
            raise
        except (OSError, ValueError, RecursionError) as error:
            raise HeadwayError(
                f"{path}: not the record of a run ({error}): restore the file, or start another RUN; the"
                f" prepared text is in {self.data}"
            ) from None

    def write_record(self, record: RunRecord) -> None:
        """Write ``run.json``."""
        values = {"format": FORMAT, **record.to_dict()}
        content = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        replace_file(self.path / "run.json", content.encode())

    def steps(self) -> list[int]:
        """Return the steps that have a checkpoint, in ascending order."""
        return checkpoint_steps(self.checkpoints)

    def save(
        self, step: int, tensors: Mapping[str, Mapping[str, Tensor]], state: Mapping[str, object]
    ) -> None:
        """Write the checkpoint of a step, after the lines of the logs that it counts are on disk."""
        logs = LogLengths(
            metrics_bytes=self.metrics.size(),
            timings_bytes=self.timings.size(),
            metrics_sha256=self.metrics.sha256(),
        )
        with explain_write_errors(self.checkpoints, 0):
            self.checkpoints.mkdir(exist_ok=True)
        values = {"format": FORMAT, "step": step, **state, **asdict(logs)}
        write_checkpoint(self.checkpoint(step), tensors, values)

    def load(self, step: int) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
        """Read the checkpoint of a step: its tensors and its state.

        Raises:
            HeadwayError: If a file is missing, damaged, changed or of another step.
        """
        tensors, state = read_checkpoint(self.checkpoint(step))
        if state.get("step") != step:
            file = self.checkpoint(step) / "state.json"
            raise HeadwayError(f"{file}: not the state of step {step}")
        return tensors, state

    def checkpoint(self, step: int) -> Path:
        """Return the directory of a step's checkpoint, which need not exist."""
        return checkpoint_path(self.checkpoints, step)

    def weights(self, step: int) -> Path:
        """Return the file with the weights of a checkpoint."""
        return self.checkpoint(step) / "model.safetensors"

    def prune(self, keep: Collection[int]) -> None:
        """Delete all checkpoints but these."""
        prune_checkpoints(self.checkpoints, keep)

    def tidy(self) -> None:
        """Delete files that an interrupted run has left unfinished."""
        self.prune(self.steps())
        for folder in (self.path, self.best, self.averaged):
            remove_leftovers(folder)

    def cut_logs(self, lengths: LogLengths) -> None:
        """Cut the logs to the lengths that they had when a checkpoint was written."""
        self.metrics.cut(lengths.metrics_bytes, lengths.metrics_sha256)
        self.timings.cut(lengths.timings_bytes)

    def write_bad_batch(self, step: int, rank: int, pairs: Iterable[tuple[str, str]]) -> Path:
        """Write the text of a step whose loss or gradient was not finite, for a person to read."""
        path = self.path / "bad-batches" / f"step-{step}{f'-{rank}' if rank else ''}.txt"
        with explain_write_errors(path, 0):
            path.parent.mkdir(exist_ok=True)
        lines = [f"{source}\n{target}\n\n" for source, target in pairs]
        replace_file(path, "".join(lines).encode())
        return path
