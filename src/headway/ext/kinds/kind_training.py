"""How ``headway lm`` and ``headway classify`` train, and the arguments that both have."""

import argparse
import sys
from typing import TYPE_CHECKING

from headway.cli import Argument, given_changes, is_launched, train_and_show
from headway.errors import UsageError

if TYPE_CHECKING:
    from headway.config import Kind


# The arguments that both have.
PRESET = (
    Argument("--preset NAME", "quick, thorough, tiny (default), small, medium, base or big"),
    "--config FILE",
)
PROCESSES = ("--ranks N", Argument("--quiet", "print errors only"))


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
