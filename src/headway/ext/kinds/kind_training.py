"""What ``headway lm`` and ``headway classify`` share: their arguments, and how they train."""

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from headway.cli import Argument, add_options, given_changes, is_launched, train_and_show
from headway.errors import UsageError

if TYPE_CHECKING:
    from headway.config import Kind

# The options that only a training has.
OF_TRAINING = ("train", "valid", "preset", "config", "ranks")


def add_arguments(parser: argparse.ArgumentParser, run: str, texts: str, *using: Argument) -> None:
    """Add the arguments of a verb that trains and uses a kind of model.

    Args:
        parser: The parser.
        run: What the run directory is for.
        texts: What ``--train`` is.
        using: The options that a trained model has.
    """
    add_options(
        parser,
        Argument("RUN", run),
        Argument("--train FILE...", texts),
        Argument("--valid FILE...", "validation text, in the same form"),
        Argument("--preset NAME", "quick, thorough, tiny (default), small, medium, base or big"),
        "--config FILE",
        *using,
        Argument(
            "--device DEVICE", "of a trained model: auto, cpu, cuda or cuda:N", {"default": "auto"}
        ),
        "--json",
        "--ranks N",
        Argument("--quiet", "print errors only"),
    )


def refuse(args: argparse.Namespace, options: Iterable[str], reason: str) -> None:
    """Raise a `UsageError` for the first of some options that is given."""
    for option in options:
        if getattr(args, option, None):
            raise UsageError(f"--{option}: {reason}: omit it")


def train_kind(args: argparse.Namespace, kind: "Kind") -> int:
    """Start or resume a run of another kind of model than a translator.

    Args:
        args: With the options of ``headway lm`` or ``headway classify``.
        kind: The kind.
    """
    from headway.cli import check_used
    from headway.config import TextConfig
    from headway.text import STANDARD_INPUT
    from headway.training import RunDirectory, RunRequest, planned

    if args.device != "auto":
        raise UsageError("--device: is for a trained model; a training has --training.device")
    refuse(args, ("json", "attention"), "is for a trained model, and this is a training")
    if STANDARD_INPUT in (*(args.train or ()), *(args.valid or ())):
        raise UsageError("-: this text is read several times: give a file")
    used = [f"text.{name}" for name in TextConfig.of_any_text()]
    check_used(args.overrides, [*used, "model", "training"], "a training of this kind of model")
    directory = RunDirectory(args.run)
    request = RunRequest(
        kind=kind,
        train=args.train or (),
        valid=args.valid or (),
        preset=args.preset or (None if directory.started else "tiny"),
        changes=given_changes(args),
        command=["headway", *sys.argv[1:]],
    )
    with planned(directory, request, locks=not is_launched()) as plan:
        return train_and_show(plan, quiet=args.quiet, ranks=args.ranks)
