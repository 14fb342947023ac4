"""How ``headway lm`` and ``headway classify`` train."""

import argparse
import sys
from typing import TYPE_CHECKING

from headway.cli import check_training, train_and_show, usage_error

if TYPE_CHECKING:
    from headway.config import Kind


def train_kind(args: argparse.Namespace, kind: "Kind") -> int:
    """Start or resume a run of another kind of model than a translator.

    Args:
        args: With the options of ``headway lm`` or ``headway classify``.
        kind: The kind.
    """
    from headway.cli import check_used
    from headway.ext.kinds.examples import USED
    from headway.text import STANDARD_INPUT
    from headway.training import RunDirectory, RunRequest

    if args.device != "auto":
        usage_error("--device: is for a trained model; a training has --training.device")
    for option in ("json", "attention"):
        if getattr(args, option, False):
            usage_error(f"--{option}: is for a trained model, and this is a training: omit it")
    if STANDARD_INPUT in (*(args.train or ()), *(args.valid or ())):
        usage_error("-: this text is read several times: give a file")
    used = [f"text.{name}" for name in USED]
    check_used(args.overrides, [*used, "model", "training"], "a training of this kind of model")
    directory = RunDirectory(args.run)
    request = RunRequest(
        kind=kind,
        train=args.train or (),
        valid=args.valid or (),
        preset=args.preset or (None if directory.started else "tiny"),
        config_file=args.config,
        overrides=args.overrides,
        command=["headway", *sys.argv[1:]],
    )
    check_training(directory, request)
    return train_and_show(directory, request, quiet=args.quiet, ranks=args.ranks)
