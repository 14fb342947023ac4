"""Checkpoints: directories that are written under a temporary name and then renamed.

A checkpoint is either complete and on disk, or it does not exist: a directory gets its name after
all its files are synced, and loses the name before any of them is deleted. Nothing is pickled.
``SHA256SUMS`` holds the sha256 of each file, so that ``sha256sum -c SHA256SUMS`` checks it too.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from headway import __version__
from headway.errors import HeadwayError
from headway.files import hash_file, read_small_file, write_atomically
from headway.translation.directory import WEIGHTS
from headway.translation.weights import save_tensors

Tensors = Mapping[str, Tensor]
FORMAT = 2
MOST_STATE_BYTES = 1 << 26
DIGESTS = "SHA256SUMS"
STATE = "state.json"
OPTIMIZER = "optimizer.safetensors"
DIGEST_LINE = re.compile(r"([0-9a-f]{64})  (\S+)")


def write_checkpoint(
    path: Path, tensors: Mapping[str, Tensors], state: Mapping[str, object]
) -> None:
    """Write a checkpoint; it appears whole or not at all, even if the power fails.

    Args:
        path: The directory to write.
        tensors: File name without suffix -> tensor name -> tensor.
        state: Plain values, for ``state.json``.

    Raises:
        OSError: If the disk is full or cannot be written; nothing remains of the checkpoint.
    """
    with write_atomically(path) as temporary:
        temporary.mkdir()
        for name, group in tensors.items():
            save_tensors(temporary / f"{name}.safetensors", group)
        values = {"format": FORMAT, "headway": __version__, **state}
        (temporary / STATE).write_text(json.dumps(values, indent=1), encoding="utf-8")
        names = sorted(file.name for file in temporary.iterdir())
        lines = [f"{hash_file(temporary / name)}  {name}\n" for name in names]
        (temporary / DIGESTS).write_text("".join(lines), encoding="utf-8")


def read_checkpoint(path: Path) -> tuple[dict[str, dict[str, Tensor]], dict[str, Any]]:
    """Read the tensors and the state of a checkpoint; what its list of digests omits is not read.

    Raises:
        HeadwayError: If a file is missing, damaged or changed.
    """
    files = [path / name for name in check_digests(path) if name.endswith(".safetensors")]
    return {file.stem: read_tensors(file) for file in files}, read_state(path)


def check_digests(path: Path, *names: str) -> list[str]:
    """Check that files of a checkpoint are what was written.

    Args:
        path: The checkpoint.
        names: Of the files; none: all that were written.

    Returns:
        The names of all that were written.

    Raises:
        HeadwayError: If one is missing or changed, or the list of digests is missing or damaged.
    """
    sums = path / DIGESTS
    if not sums.is_file():
        raise HeadwayError(f"{sums}: missing")
    try:
        lines = [DIGEST_LINE.fullmatch(line) for line in sums.read_text("utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise HeadwayError(f"{sums}: cannot be read ({error})") from None
    digests = {match[2]: match[1] for match in lines if match}
    if not {STATE, WEIGHTS} <= digests.keys() or len(digests) < len(lines):
        raise HeadwayError(f"{sums}: not a list of digests")
    for file in (path / name for name in names or digests):
        if not file.is_file():
            raise HeadwayError(f"{file}: missing")
        try:
            if hash_file(file) != digests.get(file.name):
                raise HeadwayError(f"{file}: changed since it was written (see {DIGESTS})")
        except OSError as error:
            raise HeadwayError(f"{file}: cannot be read ({error.strerror})") from None
    return list(digests)


def read_state(path: Path) -> dict[str, Any]:
    """Read the state of a checkpoint, whose digest was checked before.

    Raises:
        HeadwayError: If another Headway wrote it.
    """
    return read_small_file(
        path / STATE, FORMAT, MOST_STATE_BYTES, oldest=FORMAT, instead="start another RUN"
    )


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file.

    Raises:
        HeadwayError: If it is missing or damaged.
    """
    try:
        path.open("rb").close()  # safetensors calls any failure to open "No such file"
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise HeadwayError(f"{path}: not a readable safetensors file ({error})") from None


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Turn a failure to write or delete something of a run into a message of one line.

    Args:
        path: The run directory.
    """
    try:
        yield
    except OSError as error:
        # An error of renaming has two names; the second is the file that would have been replaced. While a directory is
        # deleted, the name of a file in it is without the directory.
        place = str(error.filename2 or error.filename or path)
        if Path(place).is_absolute() and not Path(place).is_relative_to(path.resolve()):
            raise  # a file of text or data elsewhere
        place = place if str(path) in place else str(path)
        if isinstance(error, FileNotFoundError):
            raise HeadwayError(
                f"{place}: the file or its directory was removed while the run used it: the training ends, and its"
                " steps since the last checkpoint are lost"
            ) from error
        raise HeadwayError(
            f"{place}: cannot be written ({error.strerror or error}); the run's last checkpoint is intact: put that"
            " right and give the same command again"
        ) from error


def average_weights(files: Sequence[Path]) -> dict[str, Tensor]:
    """Average the weights of several safetensors files, in float64, one file at a time (paper: section 6.1).

    Args:
        files: Files with tensors of the same names and shapes, whose digests are checked.

    Returns:
        Tensor name -> mean, in the data type of the first file.

    Raises:
        HeadwayError: If a file is damaged, or its tensors differ from those of the first.
    """
    sums: dict[str, Tensor] = {}
    dtypes: dict[str, torch.dtype] = {}
    for file in files:
        weights = read_tensors(file)
        if not sums:
            dtypes = {name: weight.dtype for name, weight in weights.items()}
            sums = {name: torch.zeros_like(w, dtype=torch.float64) for name, w in weights.items()}
        if {n: w.shape for n, w in weights.items()} != {n: s.shape for n, s in sums.items()}:
            raise HeadwayError(f"{file}: its weights have other names or shapes than {files[0]}'s")
        for name, weight in weights.items():
            sums[name] += weight
    return {name: (total / len(files)).to(dtypes[name]) for name, total in sums.items()}
