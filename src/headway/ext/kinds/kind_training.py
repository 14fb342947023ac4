"""How ``headway lm`` and ``headway classify`` train, and the options that both have."""

import argparse
import sys
from typing import TYPE_CHECKING

from headway.cli import (
    Argument,
    add_options,
    given_changes,
    is_launched,
    train_and_show,
)
from headway.errors import UsageError

if TYPE_CHECKING:
    from headway.config import Kind


def add_text(parser: argparse.ArgumentParser, run: str, train: str, valid: str) -> None:
    """Add the run directory and the text to train on, each with its help."""
    parser.add_argument("run", metavar="RUN", help=run)
    parser.add_argument("--train", nargs="+", metavar="FILE", help=train)
    parser.add_argument("--valid", nargs="+", metavar="FILE", help=valid)
    presets = "quick, thorough, tiny (default), small, medium, base or big"
    add_options(parser, Argument("--preset NAME", presets), "--config FILE")


def add_output(parser: argparse.ArgumentParser, use: str, json: str) -> None:
    """Add the options of machine and output; ``use`` is what the device is for, ``json`` the help of that option."""
    parser.add_argument("--device", default="auto", help=f"for {use}: auto, cpu, cuda or cuda:N")
    parser.add_argument("--json", action="store_true", help=json)
    add_options(parser, "--ranks N")
    parser.add_argument("--quiet", action="store_true", help="print errors only")


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
    for option in ("json", "attention"):
        if getattr(args, option, False):
            raise UsageError(f"--{option}: is for a trained model, and this is a training: omit it")
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
