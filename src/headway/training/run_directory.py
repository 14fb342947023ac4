"""The files of a training run, and the lock that lets one process at a time write them."""

import fcntl
import json
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from torch import Tensor

from headway.errors import HeadwayError
from headway.files import remove_leftovers
from headway.training.checkpoint import (
    checkpoint_path,
    checkpoint_steps,
    one_line,
    prune_checkpoints,
    read_checkpoint,
    replace_file,
    write_checkpoint,
)
from headway.training.log import Log

FORMAT = 1
LOCK = ".lock"
# What a directory may hold that becomes a run: the remains of a start that was interrupted.
BEGINNINGS = (
    "data", "config.json", "tokenizer.model", "source.model", "target.model",
    "labels.json",
)  # fmt: skip


class RunDirectory:
    """A run on disk.

    ``run.json`` (facts: data, tokenizer, machine, command) makes a directory a run and is written
    when all was rehearsed. ``metrics.jsonl`` holds only what is a function of data, settings and seed;
    ``timings.jsonl`` what was read from a clock.

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
        """Become the one process that trains here, until it ends, however it ends.

        Raises:
            HeadwayError: If another process is, or the directory holds something else.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            names = {entry.name for entry in self.path.iterdir() if entry.name[0] != "."}
        except OSError as error:
            raise HeadwayError(
                f"{self.path}: not a directory that a run can be kept in ({error.strerror}): give"
                " another RUN"
            ) from None
        if not self.started and (foreign := sorted(names.difference(BEGINNINGS))):
            raise HeadwayError(f"{self.path}: holds {foreign[0]} and no run: give another RUN")
        with one_line(self.path, 0):
            lock = (self.path / LOCK).open("a+", encoding="utf-8")
        try:
            # The kernel lets go of it when the process ends, even by kill -9.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read() or "?"
            lock.close()
            raise HeadwayError(
                f"{self.path}: process {holder} is training here already; wait for it, stop it,"
                " or choose another RUN"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        self._lock = lock
        self.tidy()

    def unlock(self) -> None:
        """Let another process train here; a directory in which nothing was begun is not left."""
        self.metrics.close()
        self.timings.close()
        if self._lock is not None:
            if [entry.name for entry in self.path.iterdir()] == [LOCK]:
                (self.path / LOCK).unlink()
                self.path.rmdir()
            self._lock.close()
            self._lock = None

    def facts(self) -> dict[str, Any]:
        """Return what ``run.json`` holds.

        Raises:
            HeadwayError: If there is none, or it is of another format.
        """
        path = self.path / "run.json"
        try:
            facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise HeadwayError(f"{path}: cannot be read ({error})") from None
        if facts.get("format") != FORMAT:
            raise HeadwayError(f"{path}: format {facts.get('format')}; this Headway reads {FORMAT}")
        return facts

    def write_facts(self, facts: Mapping[str, Any]) -> None:
        """Write ``run.json``."""
        self.write_json("run.json", {"format": FORMAT, **facts})

    def write_json(self, name: str, values: Mapping[str, Any]) -> None:
        """Put a JSON file in place."""
        content = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        replace_file(self.path / name, content.encode())

    def steps(self) -> list[int]:
        """Return the steps that have a checkpoint, in order."""
        return checkpoint_steps(self.checkpoints)

    def save(
        self, step: int, tensors: Mapping[str, Mapping[str, Tensor]], state: Mapping[str, Any]
    ) -> None:
        """Write a step's checkpoint; the logs are on disk before it, up to its record of them."""
        logs = {"metrics_bytes": self.metrics.size(), "timings_bytes": self.timings.size()}
        path = checkpoint_path(self.checkpoints, step)
        write_checkpoint(path, tensors, {"format": FORMAT, "step": step, **state, **logs})

    def load(self, step: int) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
        """Read a step's checkpoint."""
        return read_checkpoint(checkpoint_path(self.checkpoints, step))

    def weights(self, step: int) -> Path:
        """Return the file of a checkpoint's weights."""
        return checkpoint_path(self.checkpoints, step) / "model.safetensors"

    def prune(self, keep: Collection[int]) -> None:
        """Delete all other checkpoints."""
        prune_checkpoints(self.checkpoints, keep)

    def tidy(self) -> None:
        """Delete what an interrupted run left half-written."""
        self.prune(self.steps())
        for folder in (self.path, self.best, self.averaged):
            remove_leftovers(folder)

    def cut_logs(self, state: Mapping[str, Any]) -> None:
        """Take the logs back to where a checkpoint's ``state`` found them."""
        self.metrics.cut(state["metrics_bytes"])
        self.timings.cut(state["timings_bytes"])

    def write_bad_batch(self, step: int, rank: int, pairs: Iterable[tuple[str, str]]) -> Path:
        """Write the sentences of a step whose loss or gradient was not finite, to be read."""
        path = self.path / "bad-batches" / f"step-{step}{f'-{rank}' if rank else ''}.txt"
        with one_line(path, 0):
            path.parent.mkdir(exist_ok=True)
        lines = [f"{source}\n{target}\n\n" for source, target in pairs]
        replace_file(path, "".join(lines).encode())
        return path
