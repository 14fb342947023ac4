"""What ``headway translate --input FILE --output FILE`` has to do."""

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headway.errors import UsageError

if TYPE_CHECKING:
    import torch

    from headway.text.input_text import InputText
    from headway.translation.line_files.output_parts import OutputPart


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


def check_options(args: argparse.Namespace) -> None:
    """Check the options of files, before a model is loaded and hours are spent.

    Raises:
        UsageError: If ``--input`` is a directory, ``--output`` is no file that may be replaced, or ``--workers`` is below 1.
    """
    out = Path(args.output)
    check_output("--output", out, {"--input": args.input})
    if Path(args.input).is_dir():
        raise UsageError(f"--input {args.input}: is a directory: give the name of a file")
    if out.exists() and not out.is_file():
        raise UsageError(
            f"--output {out}: is a device or a pipe: omit it, and the translation goes to standard output"
        )
    if args.workers is not None and args.workers < 1:
        raise UsageError(f"--workers {args.workers}: must be 1 or more")


def check_output(option: str, out: Path, inputs: Mapping[str, str] | None = None) -> None:
    """Check that a file can be written in one piece, is not write-protected, and is none of those that are read.

    Args:
        option: The option that names the file, such as ``--output``.
        out: The file.
        inputs: The files that are read, by their options.

    Raises:
        UsageError: If not.
    """
    if out.is_dir():
        raise UsageError(f"{option} {out}: is a directory: give the name of a file")
    if not out.parent.is_dir():
        raise UsageError(f"{option} {out}: {out.parent} is no directory: make it first")
    if out.is_symlink():
        raise UsageError(
            f"{option} {out}: is a link: give the file that it leads to, {out.resolve()}"
        )
    # The mode counts, too: to replace a file, only its folder must allow it, and to root everything does.
    if out.is_file() and not (out.stat().st_mode & 0o222 and os.access(out, os.W_OK)):
        raise UsageError(
            f"{option} {out}: is write-protected: give another name, or allow writing (chmod u+w)"
        )
    if not os.access(out.parent, os.W_OK | os.X_OK):
        raise UsageError(f"{option} {out}: no file can be written in {out.parent.resolve()}")
    for other, name in (inputs or {}).items():
        if out.exists() and Path(name).exists() and out.samefile(name):
            raise UsageError(f"{option} {out}: must be another file than {other}")


def plan_file(args: argparse.Namespace, threads: int, device: "torch.device") -> FilePlan:
    """Count the lines of ``--input``, take those of ``--part``, and divide the threads among workers.

    Args:
        args: The options of the command.
        threads: Threads of all processes together.
        device: The device of the model.

    Raises:
        UsageError: If there can be only one process.
        HeadwayError: If a line of the input cannot be read.
    """
    from headway.text.input_text import InputText
    from headway.translation.line_files.forked_workers import IS_SUPPORTED
    from headway.translation.line_files.output_parts import OutputPart
    from headway.translation.translator import WINDOW

    can_fork = IS_SUPPORTED and device.type == "cpu"
    if (args.workers or 1) > 1 and not can_fork:
        raise UsageError(
            f"--workers {args.workers}: needs Linux and a processor: for each GPU or machine, start this"
            " command with its own --part K/N"
        )
    part = OutputPart(*args.part) if args.part else OutputPart()
    text = InputText.scan(Path(args.input))
    lines = part.lines(text.lines, WINDOW)
    workers = args.workers or (threads if can_fork else 1)
    workers = max(1, min(workers, -(-len(lines) // WINDOW)))
    return FilePlan(text, Path(args.output), part, lines, workers, max(1, threads // workers))


def parse_part(word: str) -> tuple[int, int]:
    """Return K and N of ``--part K/N``."""
    number, _, count = word.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{word}: must be K/N with K from 1 to N, such as 1/8")
    return int(number), int(count)
