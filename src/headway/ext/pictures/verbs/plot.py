"""``headway plot``: the curves of training runs, in a file."""

import argparse
import sys

from headway.cli import Argument, add_options

EXAMPLE = "headway plot runs/demo\nheadway plot runs/demo runs/other --out curves.png"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    meaning = "file to write: .svg, .png or .pdf (default: curves.svg)"
    add_options(
        parser,
        Argument("RUN...", "run directory, finished or not"),
        Argument("--out FILE", meaning, {"default": "curves.svg"}),
    )


def run(args: argparse.Namespace) -> None:
    """Write the figure."""
    from headway.ext.pictures.plotting import plot

    plot(args.runs, args.out)
    print(f"wrote {args.out}", file=sys.stderr)
