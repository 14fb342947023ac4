"""``headway reproduce``: the paper's tables, figures and arguments, measured here."""

import argparse
import sys

EXAMPLE = """\
headway reproduce --list
headway reproduce all --out runs/paper    # continues where it was stopped
headway reproduce table3 --rows A,C --seeds 1    # only these rows"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "what", metavar="WHAT", nargs="*", help="experiments (--list names them), or all"
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help="print names, titles and times of the experiments at the --scale",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        default="runs/paper",
        help="directory of results (default: runs/paper)",
    )
    parser.add_argument(
        "--scale",
        choices=("minutes", "hours", "paper"),
        default="minutes",
        help="minutes (default): all take three hours on two cores; hours: trains on your text (--train);"
        " paper: counts and measures what needs no training, and writes the paper's own settings",
    )
    parser.add_argument(
        "--train", nargs="+", metavar="FILE", help="training text, as for headway train"
    )
    parser.add_argument(
        "--valid", nargs="+", metavar="FILE", help="validation text, in the same form"
    )
    parser.add_argument(
        "--test", nargs="+", metavar="FILE", help="test text (default: the validation text)"
    )
    parser.add_argument(
        "--seeds",
        nargs="+",
        type=int,
        default=(),
        metavar="N",
        help="the seeds themselves, of which each is a training (default: 1 2 3)",
    )
    parser.add_argument(
        "--rows", metavar="A,C,big", help="train only these groups of rows of table3, and its base"
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=0,
        metavar="N",
        help="trainings that run at the same time (default: one on each core)",
    )
    parser.add_argument(
        "--device",
        default="cpu",
        metavar="NAME",
        help="where translators are trained: cpu (default), cuda or cuda:N; --processes share a GPU",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="compute finished experiments again, from finished trainings",
    )


def run(args: argparse.Namespace) -> int:
    """Run the experiments that are not done yet, and write the report of all that are."""
    from headway.devices import resolve_device
    from headway.errors import HeadwayError, UsageError, suggest
    from headway.ext.paper.reproduction import (
        ALL,
        EXPERIMENTS,
        list_experiments,
        reproduce,
        write_report,
    )
    from headway.ext.paper.running.work import Study
    from headway.ext.paper.table3_rows import GROUPS
    from headway.locks import DirectoryLock

    names = ALL if args.what == ["all"] else args.what
    for name in names:
        if name not in (*EXPERIMENTS, "all"):
            raise UsageError(
                f"{name}: no such experiment{suggest(name, EXPERIMENTS)}; --list names them, with their sections of the paper"
            )
    if args.list:
        if args.rows:
            raise UsageError("--rows has no effect with --list, which lists whole experiments")
        print(list_experiments(args.scale, len(args.seeds) or 3))
        return 0
    if not names:
        raise UsageError(
            "give the name of an experiment, or all; headway reproduce --list prints the names"
        )
    if "all" in names:
        raise UsageError("all stands alone: it runs every experiment")
    if bool(args.train) != bool(args.valid) or (args.test and not args.train):
        raise UsageError("--train needs --valid, --valid needs --train, and --test needs both")
    if args.scale == "hours" and not args.train:
        raise UsageError("--scale hours needs text: give --train and --valid")
    if min((*args.seeds, args.processes)) < 0 or len(set(args.seeds)) < len(args.seeds):
        raise UsageError("--seeds and --processes must be 0 or more, and all seeds must differ")
    rows = args.rows.split(",") if args.rows else []
    for row in rows:
        if row not in GROUPS:
            raise UsageError(
                f"--rows {args.rows}: {row!r} is not a group of rows; table3 has {', '.join(GROUPS)}"
            )
    if rows and "table3" not in names:
        raise UsageError("--rows needs the experiment table3: it chooses rows of that table")

    def show(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    device = str(resolve_device(args.device, "--device"))
    corpus = None
    if args.train:
        from headway.ext.paper.running.bitext import Bitext

        corpus = Bitext.read(args.train, args.valid, args.test or ())
    work = Study(args.out, args.scale, args.seeds, show, args.processes, corpus, rows, device)
    if len(work.seeds) == 1:
        show(
            f"seed {work.seeds[0]} alone: one training of each model has no interval, and decides nothing; --seeds 1 2 3"
            " are three"
        )
    failed = 0
    work.directory.mkdir(parents=True, exist_ok=True)
    with DirectoryLock(work.directory):
        for name in names:
            try:
                reproduce(name, work, again=args.again)
            except HeadwayError as error:  # the other experiments still run
                show(f"headway: {name}: {error}")
                failed = 1
            except (KeyboardInterrupt, SystemExit):  # SIGTERM ends the process by SystemExit
                show(f"{write_report(work)}: holds what is finished; the same command goes on")
                raise
            page = write_report(work)
    print(page)
    return failed
