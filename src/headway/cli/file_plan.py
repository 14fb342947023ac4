"""What ``headway translate --input FILE --output FILE`` has to do, checked before a model is loaded."""

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headway.errors import UsageError

if TYPE_CHECKING:
    import torch

    from headway.inference.output_parts import OutputPart
    from headway.text.input_text import InputText


@dataclass(frozen=True)
class FilePlan:
    """The work of this command.

    Attributes:
        text: The input.
        out: The output.
        part: The part of the output that this command writes.
        lines: The input lines of the part, from 0.
        workers: Processes that translate; 1: this process does.
        threads: Threads of each of them.
    """

    text: "InputText"
    out: Path
    part: "OutputPart"
    lines: range
    workers: int
    threads: int


def plan_file(args: argparse.Namespace, threads: int) -> FilePlan:
    """Check ``--input``, ``--output``, ``--part`` and ``--workers``, and divide the threads.

    Args:
        args: The options of the command.
        threads: Threads of all processes together.

    Raises:
        UsageError: If an option is wrong.
        HeadwayError: If a line of the input cannot be read.
    """
    from headway.inference.translator import WINDOW
    from headway.kernels.devices import resolve_device
    from headway.text.input_text import InputText

    part = _parse_part(args.part)
    device = resolve_device(args.device)
    _check_workers(args.workers, device)
    text = InputText.scan(Path(args.input))
    lines = part.lines(text.lines, WINDOW)
    workers = args.workers or (threads if _can_fork(device) else 1)
    workers = max(1, min(workers, -(-len(lines) // WINDOW)))
    return FilePlan(text, Path(args.output), part, lines, workers, max(1, threads // workers))


def check_output(args: argparse.Namespace) -> None:
    """Check that ``--output`` can be written, before hours are spent.

    Raises:
        UsageError: If it is a directory or the file of ``--input``, or has no directory.
    """
    out = Path(args.output)
    if out.is_dir():
        raise UsageError(f"--output {out}: is a directory: give the name of a file")
    if not out.parent.is_dir():
        raise UsageError(f"--output {out}: {out.parent} is no directory: make it first")
    if out.exists() and out.samefile(args.input):
        raise UsageError(f"--output {out}: must be another file than --input")


def _parse_part(word: str | None) -> "OutputPart":
    """Return the part that ``--part`` names; without the option, the whole."""
    from headway.inference.output_parts import OutputPart

    if word is None:
        return OutputPart()
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", word)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--part {word}: must be K/N with K from 1 to N, such as 1/8")
    return OutputPart(int(found[1]), int(found[2]))


def _check_workers(workers: int | None, device: "torch.device") -> None:
    if workers is not None and workers < 1:
        raise UsageError(f"--workers {workers}: must be 1 or more")
    if (workers or 1) > 1 and not _can_fork(device):
        raise UsageError(
            f"--workers {workers}: needs Linux and a processor: for each GPU or machine, start this"
            " command with its own --part K/N"
        )


def _can_fork(device: "torch.device") -> bool:
    from headway.inference.forked_workers import IS_SUPPORTED

    return IS_SUPPORTED and device.type == "cpu"
