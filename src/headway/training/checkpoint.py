"""Checkpoints: whole directories, written beside and renamed into place; nothing is pickled.

A checkpoint either is there, complete and on disk, or is not: a directory gets its name after all
its files are synced, and loses the name before any of them is deleted.
"""

import json
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from headway.errors import HeadwayError

Tensors = Mapping[str, Tensor]
NAME = re.compile(r"step-(\d{8,})")
TEMPORARY = ".tmp-"


def checkpoint_path(folder: Path, step: int) -> Path:
    """Return where the checkpoint of a step is, or would be."""
    return folder / f"step-{step:08d}"


def checkpoint_steps(folder: Path) -> list[int]:
    """Return the steps that have a checkpoint, in order."""
    matches = (NAME.fullmatch(entry.name) for entry in folder.glob("step-*"))
    return sorted(int(match[1]) for match in matches if match)


def write_checkpoint(path: Path, tensors: Mapping[str, Tensors], state: Mapping[str, Any]) -> None:
    """Write a checkpoint so that it appears whole or not at all, also when the power fails.

    Args:
        path: The directory to be.
        tensors: File name without ending -> tensor name -> tensor.
        state: The plain values, for ``state.json``.

    Raises:
        HeadwayError: If the disk is full or cannot be written; nothing is left behind.
    """
    beside = path.with_name(TEMPORARY + path.name)
    size = sum(t.nbytes for group in tensors.values() for t in group.values())
    with one_line(path, size):
        remove(beside)
        beside.mkdir(parents=True)
        try:
            for name, group in tensors.items():
                save_file(dict(group), beside / f"{name}.safetensors")
            (beside / "state.json").write_text(json.dumps(state, indent=1), encoding="utf-8")
            for file in beside.iterdir():
                sync(file)
            sync(beside)
            beside.rename(path)
        except BaseException:
            remove(beside)
            raise
        sync(path.parent)


def read_checkpoint(path: Path) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
    """Read what `write_checkpoint` wrote: tensors and state.

    Raises:
        HeadwayError: If a file is missing or damaged.
    """
    tensors = {file.stem: read_tensors(file) for file in sorted(path.glob("*.safetensors"))}
    try:
        return tensors, json.loads((path / "state.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise HeadwayError(f"{path / 'state.json'}: cannot be read ({error})") from None


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file.

    Raises:
        HeadwayError: If it is missing or damaged.
    """
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise HeadwayError(f"{path}: not a readable safetensors file ({error})") from None


def prune_checkpoints(folder: Path, keep: Collection[int]) -> None:
    """Delete the checkpoints of all steps but these, and what an interruption left behind."""
    for step in set(checkpoint_steps(folder)) - set(keep):
        path = checkpoint_path(folder, step)
        path.rename(path.with_name(TEMPORARY + path.name))
    for leftover in folder.glob(TEMPORARY + "*"):
        remove(leftover)


def replace_file(path: Path, content: bytes) -> None:
    """Put a file in place of another, atomically and on disk.

    Raises:
        HeadwayError: If the disk is full or cannot be written; the old file stays.
    """
    beside = path.with_name(TEMPORARY + path.name)
    with one_line(path, len(content)):
        try:
            beside.write_bytes(content)
            sync(beside)
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        sync(path.parent)


def sync(path: Path) -> None:
    """Wait until a file or directory is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Delete a file or a directory tree, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def one_line(path: Path, size: int) -> Iterator[None]:
    """Turn a failure to write ``size`` bytes at ``path`` into one line."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HeadwayError(
            f"{path}: cannot write {size:,} bytes ({reason}); the run's last checkpoint is whole:"
            " free space and give the same command again"
        ) from error
