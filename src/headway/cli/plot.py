"""``headway plot``: the curves of training runs, in a file or in the terminal."""

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.pictures.curves import Curves

EXAMPLE = "headway plot runs/mine runs/other --out curves.png\nheadway plot runs/mine --live"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="run directories, also unfinished")
    parser.add_argument("--out", metavar="FILE", help="write .png, .svg or .pdf")
    parser.add_argument(
        "--live", action="store_true", help="draw in the terminal, again and again as runs go on"
    )
    parser.add_argument(
        "--every", type=float, default=2.0, help="seconds between two drawings (default 2)"
    )


def run(args: argparse.Namespace) -> None:
    """Write the figure, or watch."""
    from headway.cli.main import usage_error
    from headway.pictures.curves import Curves
    from headway.pictures.plotting import plot
    from headway.pictures.scene import check_name

    if not args.out and not args.live:
        usage_error("headway plot needs --out FILE, or --live")
    if not args.every > 0:
        usage_error(f"--every {args.every}: must be more than 0 seconds")
    if args.out:
        check_name(args.out)
    runs = [Curves(path) for path in args.runs]
    if args.live:
        watch(runs, args.every)
    if args.out:
        plot(runs, args.out)


def watch(runs: Sequence["Curves"], seconds: float) -> None:
    """Draw until all runs are finished or the user has seen enough; in a pipe, once."""
    from rich.console import Console
    from rich.live import Live

    from headway.pictures.terminal import screen

    console = Console(highlight=False)
    if not console.is_terminal:
        console.print(screen(runs, 80, 40), end="", soft_wrap=True)
        return
    with Live(console=console, auto_refresh=False) as live:
        while True:
            live.update(screen(runs, console.width, console.height), refresh=True)
            if all(run.finished for run in runs):
                return
            time.sleep(seconds)
            for run in runs:
                run.update()
