"""``headway reproduce``: the paper's tables, figures and arguments, measured here."""

import argparse
import sys
from pathlib import Path

from headway.cli import Argument, add_options

EXAMPLE = """\
headway reproduce --list
headway reproduce all --out runs/paper    # continues where it was stopped
headway reproduce table3 --seeds 1    # one training a row decides nothing
headway reproduce wmt14 --scale paper    # what the paper's trainings take"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    scales = (
        "minutes (default): all take three hours on two cores; hours: trains on your text (--train);"
        " paper: counts and measures what needs no training, and writes the paper's own settings"
    )
    add_options(
        parser,
        Argument("WHAT", "experiments (--list names them), or all", {"nargs": "*"}),
        Argument("--list", "print names and titles of the experiments"),
        Argument("--out DIR", "directory of results (default: runs/paper)", {"default": "runs/paper"}),
        Argument(
            "--scale NAME", scales,
            {"choices": ("minutes", "hours", "paper"), "default": "minutes", "metavar": None},
        ),
        Argument("--train FILE...", "training text, as for headway train"),
        Argument("--valid FILE...", "validation text, in the same form"),
        Argument("--test FILE...", "test text (default: the validation text)"),
        Argument(
            "--seeds N...",
            "the seeds themselves, of which each is a training (default: 1 2 3)",
            {"default": ()},
        ),
        Argument(
            "--processes N",
            "trainings at the same time (default: one a core)",
            {"default": 0},
        ),
        Argument(
            "--device NAME",
            "where translators are trained: cpu (default), cuda or cuda:N; --processes share a GPU",
            {"default": "cpu"},
        ),
        Argument(
            "--also DIR...",
            "results of other machines, which count here, too",
            {"default": ()},
        ),
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run the experiments that are not done yet, and write the report of all that are."""
    from headway.devices import resolve_device
    from headway.errors import HeadwayError
    from headway.ext.paper.reproduction import ALL, list_experiments, reproduce, write_report
    from headway.ext.paper.running.study import Study
    from headway.locks import DirectoryLock

    check(args)
    if args.list:
        print(list_experiments())
        return 0

    def show(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    device = str(resolve_device(args.device, "--device"))
    corpus = None
    if args.train:
        from headway.ext.paper.running.bitext import Bitext

        corpus = Bitext.read(args.train, args.valid, args.test or ())
    work = Study(args.out, args.scale, args.seeds, show, args.processes, corpus, device, args.also)
    if len(work.seeds) == 1:
        show(
            f"seed {work.seeds[0]} alone: one training of each model has no interval, and decides nothing; --seeds 1 2 3"
            " are three"
        )
    failed = 0
    work.directory.mkdir(parents=True, exist_ok=True)
    with DirectoryLock(work.directory):
        for name in ALL if args.what == ["all"] else args.what:
            try:
                reproduce(name, work)
            except HeadwayError as error:  # the other experiments still run
                show(f"headway: {name}: {error}")
                failed = 1
            except (KeyboardInterrupt, SystemExit):  # SIGTERM ends the process by SystemExit
                show(f"{write_report(work)}: holds what is finished; the same command goes on")
                raise
            page = write_report(work)
    print(page)
    return failed


def check(args: argparse.Namespace) -> None:
    """Check that the arguments fit each other.

    Raises:
        UsageError: If they do not.
    """
    from headway.errors import UsageError, suggest
    from headway.ext.paper.reproduction import EXPERIMENTS, WITHOUT_TEXT

    names = args.what
    for name in names:
        if name not in (*EXPERIMENTS, "all"):
            raise UsageError(
                f"{name}: no such experiment{suggest(name, EXPERIMENTS)}; --list names them, with their sections of the paper"
            )
    if args.list:
        return
    if not names:
        raise UsageError(
            "give the name of an experiment, or all; headway reproduce --list prints the names"
        )
    if "all" in names and len(names) > 1:
        raise UsageError("all stands alone: it runs every experiment")
    if bool(args.train) != bool(args.valid) or (args.test and not args.train):
        raise UsageError("--train needs --valid, --valid needs --train, and --test needs both")
    if args.scale == "hours" and not args.train and not {*names} <= WITHOUT_TEXT:
        raise UsageError("--scale hours needs text: give --train and --valid")
    if min((*args.seeds, args.processes)) < 0 or len(set(args.seeds)) < len(args.seeds):
        raise UsageError("--seeds and --processes must be 0 or more, and all seeds must differ")
    for directory in args.also:
        if not Path(directory, "trials").is_dir():
            raise UsageError(
                f"--also {directory}: has no trials: give the --out of another reproduction"
            )
