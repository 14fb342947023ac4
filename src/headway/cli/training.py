"""What verbs share that train another kind of model than a translator: data first, then `train`."""

import argparse
from collections.abc import Callable

from headway.cli import train
from headway.errors import HeadwayError


def train_on(args: argparse.Namespace, prepare: Callable[[str], None]) -> int:
    """Start a run in its directory on data of its own kind, or go on with one.

    Args:
        args: With run, train, valid, preset, config, quiet and overrides.
        prepare: Writes the training data to a directory that is not there yet.
    """
    from headway.files import remove
    from headway.training.run_directory import RunDirectory

    directory = RunDirectory(args.run)
    data = None
    if not directory.started:
        if not (args.train and args.valid):
            raise HeadwayError(f"{args.run}: no run there yet: start one with --train and --valid")
        directory.lock()
        try:
            remove(directory.data)  # what a start left that was interrupted
            prepare(str(directory.data))
        finally:
            directory.unlock()
        data = str(directory.data)
        # The data is prepared, with these settings; those of the run are the other sections.
        args.overrides = {n: v for n, v in args.overrides.items() if not n.startswith("text.")}
        args.preset = args.preset or "tiny"
    for name in ("languages", "init", "train", "valid"):
        setattr(args, name, None)
    args.data = data
    return train.run(args)
