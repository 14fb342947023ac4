"""``headway plot``: the curves of training runs, in a file."""

import argparse
import sys

from headway.errors import UsageError

EXAMPLE = "headway plot runs/demo\nheadway plot runs/demo runs/other --out curves.png"
DEFAULT_OUT = "curves.svg"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="run directory, finished or not")
    parser.add_argument(
        "--out",
        metavar="FILE",
        default=DEFAULT_OUT,
        help=f"file to write: .svg, .png or .pdf (default: {DEFAULT_OUT})",
    )
    # Accepted only to name the replacement.
    parser.add_argument("--live", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--every", help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> None:
    """Write the figure."""
    from headway.ext.pictures.plotting import plot

    if args.live or args.every:
        raise UsageError(
            "headway plot --live is gone: train with --training.tensorboard true and run"
            " tensorboard --logdir RUN"
        )
    plot(args.runs, args.out)
    print(f"wrote {args.out}", file=sys.stderr)
