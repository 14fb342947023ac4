"""``headway average``: one model from the weights of several checkpoints of a run."""

import argparse
import sys

from headway.cli.options import Argument, add_options
from headway.errors import HeadwayError, UsageError

EXAMPLE = (
    "headway average runs/mine runs/mine-average --last 5\n"
    "headway average runs/mine runs/mine-average --checkpoints 4000 4500 5000"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser, Argument("RUN", "a run directory"), Argument("OUT", "model directory to create")
    )
    add_options(
        parser.add_mutually_exclusive_group(),
        Argument("--last N", "average the last N checkpoints (default: all of trained weights)"),
        Argument("--checkpoints STEP...", "average the checkpoints of these steps"),
    )


def run(args: argparse.Namespace) -> None:
    """Write OUT, which is RUN with averaged weights."""
    from pathlib import Path

    from headway.model import make_model
    from headway.text.prepared import check_new
    from headway.text.tokenizer import load_tokenizer
    from headway.training.storage.card import model_card
    from headway.training.storage.checkpoint import average_weights
    from headway.training.storage.run_directory import RunDirectory
    from headway.translation.directory import read_config, save_model
    from headway.translation.saving import copy_learned

    directory, out = RunDirectory(args.run), Path(args.out)
    record = directory.record()
    check_new(out)
    steps = choose_steps(directory.steps(), args.checkpoints, args.last, args.run)
    for step in steps:
        directory.check_weights(step, record.identity)
    config, languages, pairs, _ = read_config(directory.path)
    model = make_model(config.model)
    model.load_state_dict(average_weights([directory.weights(step) for step in steps]))
    which = f"average of the checkpoints of steps {', '.join(map(str, steps))}"
    if len(steps) == 1:
        which = f"checkpoint of step {steps[0]}"
    card = model_card(config, record, languages, which, report=None, pairs=pairs)
    tokenizer = load_tokenizer(directory.path, config.model.kind)
    save_model(out, model, tokenizer, config, languages, card, pairs)
    copy_learned(directory.path, out, has_same_weights=False)
    print(f"{out}: {which}", file=sys.stderr)


def choose_steps(
    available: list[int], wanted: list[int] | None, last: int | None, run: str
) -> list[int]:
    """Choose the checkpoints to average.

    Args:
        available: Steps that have a checkpoint, in ascending order.
        wanted: These steps; None: see ``last``.
        last: The last so many steps; None: all. Step 0 has untrained weights and does not count.
        run: The run's name, for messages.

    Raises:
        HeadwayError: If there is no such checkpoint.
    """
    trained = [step for step in available if step]
    names = ", ".join(map(str, trained)) or "none"
    if last is not None and not 0 < last <= len(trained):
        raise UsageError(
            f"--last {last}: {run} has {len(trained)} checkpoints of trained weights ({names})"
        )
    steps = sorted({*(wanted or trained[-(last or 0) :])})
    missing = [step for step in steps if step not in available]
    if missing or not steps:
        which = f" of step {missing[0]}" if missing else " of trained weights"
        raise HeadwayError(f"{run}: no checkpoint{which}; there are {names}")
    return steps
