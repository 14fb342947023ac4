"""``headway train``: the training loop, what is seen of it, and how it is stopped."""

import argparse
import os
import signal
import sys
from collections.abc import Generator
from contextlib import ExitStack, closing
from types import FrameType
from typing import TYPE_CHECKING, Any

from headway.cli.display import Display
from headway.cli.main import before_training, native_code
from headway.errors import HeadwayError

if TYPE_CHECKING:
    from headway.config import Config
    from headway.training.run import Run
    from headway.training.run_directory import RunDirectory
    from headway.training.state import Event

EXAMPLE = """\
headway train runs/mine --train a.en a.de --valid v.en v.de --preset tiny
headway train runs/mine    # goes on, exactly as if it had never stopped"""
SETTINGS = ("text", "model", "training", "search")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("run", metavar="RUN", help="run directory; an existing run is resumed")
    parser.add_argument(
        "--train", nargs="+", metavar="FILE",
        help="source and target text, or one .tsv .jsonl .tmx, or names: hf: mtdata: sacrebleu:",
    )  # fmt: skip
    parser.add_argument("--valid", nargs="+", metavar="FILE", help="validation text, alike")
    parser.add_argument("--data", metavar="DIR", help="what `headway prepare` wrote, instead")
    parser.add_argument("--languages", nargs=2, metavar="CODE", help="of source and target: de en")
    parser.add_argument(
        "--init", metavar="MODEL", help="begin from a model's weights and vocabulary: fine-tuning"
    )
    parser.add_argument(
        "--preset", metavar="NAME", help="quick, tiny, small, base (default) or big"
    )
    parser.add_argument("--config", metavar="FILE", help="a TOML file that changes the preset")
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")


def train(run: "Run") -> "Generator[Event, None, None]":
    """Train to the end, yielding what happens; whoever stops iterating has the run saved.

    A checkpoint is a step's state before its validation: a run that goes on from it validates.

    Args:
        run: New or resumed. Close the iterator (`contextlib.closing`) when you leave it early.

    Raises:
        HelperEnded: If a helping process ended for good; the run is saved.

    Yields:
        A `StepReport` a step, `Progress` during and a `ValidationReport` after validation, and
        `Notice` for what a user should be told.
    """
    from headway.training import processes
    from headway.training.helper import HelperEnded

    run.begin()
    try:
        while True:
            if run.checkpoint_due or run.save_due:
                run.save()
            if run.validation_due:
                yield from run.validate()
            if run.at_end or run.out_of_patience:
                break
            yield from run.advance()
        run.save()
        yield from run.finish()
    except GeneratorExit:
        run.save()
        raise
    except HelperEnded:
        if processes.count() == 1:  # others would wait for a gradient, not for a checkpoint
            run.save()
        raise


def run(args: argparse.Namespace) -> int:
    """Start or resume, train, and report on standard error."""
    before_training()
    import torch

    from headway.cli.naming import local_text
    from headway.kernels.build import identity
    from headway.training import processes
    from headway.training.machine import Machine, settle
    from headway.training.rehearsal import rehearse
    from headway.training.run_directory import RunDirectory
    from headway.training.schedule import told_if_too_short

    directory = RunDirectory(args.run)
    _check_words(directory, args)
    # Processes wait here for the one that fetches, before they wait for each other with a limit.
    args.train, args.valid = local_text(args, "train"), local_text(args, "valid")
    processes.start()
    try:
        if processes.rank() == 0:
            directory.lock()
            if not args.quiet:
                native_code("training", torch.device("cpu"))
        processes.wait()
        training = open_run(directory, args)
        if training is None:
            print(f"{args.run}: finished; raise --training.max-steps to go on", file=sys.stderr)
            return 0
        settle()
        display = Display(training, quiet=args.quiet or processes.rank() > 0)
        display.say(
            f"{args.run}: goes on from step {training.step}"
            if training.step
            else f"{args.run}: {rehearse(training)}"
        )
        if not training.step and (told := told_if_too_short(training.config.training)):
            display.say(told)
        if training.facts["torch"] != torch.__version__:
            display.say(
                f"begun with torch {training.facts['torch']}, this is {torch.__version__}:"
                " the last bits may come out otherwise"
            )
        if Machine(**training.facts["machine"]).emulates:
            display.say(
                "bf16 has no instructions on this processor, and takes several times longer than"
                f" fp32: go on elsewhere, or start another RUN with --data {training.data.directory}"
                " --training.precision fp32"
            )
        if training.facts["native"] != identity("training"):
            display.say("begun with other native code: the last bits may come out otherwise")
        return follow(training, display)
    finally:
        directory.unlock()
        processes.stop()


def _check_words(directory: "RunDirectory", args: argparse.Namespace) -> None:
    """Refuse words that make no sense together, before anything is made."""
    if not directory.started and not args.data and not (args.train and args.valid):
        given = "--train" if args.train else "--valid" if args.valid else ""
        other = {"--train": "--valid", "--valid": "--train"}.get(given)
        raise HeadwayError(
            f"{given} needs {other} beside it: text of its own, as {given} has it"
            if other
            else f"{args.run}: no run there yet: start one with --train and --valid, or with --data"
        )
    if args.data and (args.train or args.valid):
        raise HeadwayError("--data is prepared already: leave --train and --valid away")
    if directory.started and args.init:
        raise HeadwayError(f"--init {args.init}: {args.run} has begun already: give another RUN")
    settled = [name for name in args.overrides if name.startswith("text.")]
    if args.data and settled:
        raise HeadwayError(f"--{settled[0]}: settled when {args.data} was prepared")


def open_run(directory: "RunDirectory", args: argparse.Namespace) -> "Run | None":
    """Return the run that the arguments start or resume; None if it is finished."""
    from headway.cli.main import settings_from
    from headway.files import remove
    from headway.inference.directory import load_model
    from headway.text.prepare import PreparedData, prepare
    from headway.training import facts, processes
    from headway.training.initial import check_shape, check_vocabulary
    from headway.training.starting import start

    if directory.started:
        return _resume(directory, args)
    init = load_model(args.init) if args.init else None
    config = settings_from(args, shape=init.config if init else None)
    if init:
        check_shape(config, init)
    if not args.data and processes.rank() == 0:
        remove(directory.data)  # what a start left that was interrupted
        codes = tuple(args.languages) if args.languages else None
        kept = init.tokenizer if init else None
        prepare(args.train, args.valid, directory.data, config.text, codes, tokenizer=kept)
        if not args.quiet:
            print(f"{directory.data / 'report.txt'}: what was kept and dropped", file=sys.stderr)
    processes.wait()
    data = PreparedData.open(args.data or directory.data)
    if init:
        check_vocabulary(data, init)
    return start(
        directory,
        data,
        config,
        command=["headway", *sys.argv[1:]],
        train=facts.describe_files(args.train or ()),
        valid=facts.describe_files(args.valid or ()),
        init=args.init,
    )


def _resume(directory: "RunDirectory", args: argparse.Namespace) -> "Run | None":
    from headway.inference import shortlist
    from headway.inference.directory import read_config
    from headway.text.prepare import PreparedData
    from headway.training import facts
    from headway.training.run import wants_shortlist, write_shortlist
    from headway.training.starting import resume

    stored, _ = read_config(directory.path)
    known = directory.facts()
    config = facts.fill_vocabulary(_wanted(stored, args), stored)
    differences = facts.changes(stored, config)
    for side in ("train", "valid"):
        differences += facts.other_files(known["files"][side], getattr(args, side) or ())
    where = args.data or known["data"]["directory"] or directory.data
    if differences:
        raise HeadwayError(
            f"{args.run}: goes on with its own settings and data only: {'; '.join(differences)};"
            f" {', '.join(facts.MAY_CHANGE)} may change, for all else start another RUN; with"
            f" --data {where} its data need not be prepared again"
        )
    ends = [(c.training.max_steps, c.training.patience) for c in (stored, config)]
    data = PreparedData.open(where)
    if known["finished"] and ends[0] == ends[1]:
        learned = directory.path / shortlist.FILE
        if wants_shortlist(config) and not learned.exists():
            write_shortlist(directory, data)
            print(f"{learned}: learned", file=sys.stderr)
        return None
    run = resume(directory, data, config)
    before, now = known["machine"]["threads"], run.facts["machine"]["threads"]
    if now != before and not args.quiet:
        print(f"{now} threads, not {before}: the last bits may come out otherwise", file=sys.stderr)
    return run


def _wanted(stored: "Config", args: argparse.Namespace) -> "Config":
    """The run's settings with those given again; a preset given again means all its settings."""
    from headway.cli.main import settings_from, usage_error
    from headway.config import merge, merge_overrides, read_toml

    if args.preset:
        return settings_from(args)
    try:
        if args.config:
            stored = merge(stored, read_toml(args.config), where=args.config)
        return merge_overrides(stored, args.overrides)
    except HeadwayError as error:
        usage_error(str(error))


def follow(run: "Run", display: Display) -> int:
    """Train, show what happens, and save and leave on a signal; returns the exit code."""
    from headway.training import processes
    from headway.training.tensorboard import TensorBoard
    from headway.training.trainer import StepReport
    from headway.training.validation import ValidationReport

    with ExitStack() as stack:
        signals = stack.enter_context(Signals())
        watchers: list[Display | TensorBoard] = [stack.enter_context(display)]
        if run.config.training.tensorboard and processes.rank() == 0:
            board = TensorBoard(run.directory.path / "tensorboard", run.step)
            watchers.append(stack.enter_context(closing(board)))
        for event in stack.enter_context(closing(train(run))):
            for watcher in watchers:
                watcher.show(event)
            # Several processes leave after the same step, whichever of them was asked to.
            if isinstance(event, StepReport) or processes.count() == 1:
                received = processes.highest(signals.received)
                if received:
                    break
        else:
            best = ValidationReport(**run.facts["installed"])
            display.say(f"{run.directory.path}: finished; its model has {best.worth}")
            return 0
    display.say(f"saved at step {run.step}; headway train {run.directory.path} goes on")
    return 128 + received


class Signals:
    """Remembers the first SIGINT, SIGTERM or SIGHUP; the second but SIGHUP ends the process."""

    def __init__(self) -> None:
        self.received = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Signals":
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._before[number] = signal.signal(number, self._receive)
        if self._before[signal.SIGHUP] == signal.SIG_IGN:  # as nohup wants it
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, _: FrameType | None) -> None:
        # Whoever closes a terminal sends more than one SIGHUP: it, its shell and the system.
        if self.received and number != signal.SIGHUP:
            os._exit(128 + number)  # nothing to tidy up: a run survives kill -9
        self.received = self.received or number
