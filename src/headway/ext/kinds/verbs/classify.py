"""``headway classify``: train a classifier of texts, or label texts with one."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from headway.cli import Argument, add_options
from headway.errors import HeadwayError, UsageError

if TYPE_CHECKING:
    from headway.ext.kinds.text_classifier import Prediction, TextClassifier

EXAMPLE = """\
headway classify runs/kinds --train train.tsv --valid valid.tsv
headway classify runs/kinds < texts > labels
headway classify runs/kinds --json --attention < texts"""
SETTINGS = ("text", "model", "training")
TRAINS = True  # the process may train


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    from headway.ext.kinds.kind_training import PRESET, PROCESSES

    add_options(
        parser,
        Argument("RUN", "run directory; a finished run labels standard input"),
        Argument("--train FILE...", ".tsv file (label, text, optional second text) or .jsonl file"),
        Argument("--valid FILE...", "validation texts, in the same form"),
        *PRESET,
        Argument("--score FILE", "print the accuracy on a file with labels"),
        Argument("--attention", "with --json: also print how much attention each token receives"),
        Argument("--device DEVICE", "for labeling: auto, cpu, cuda or cuda:N", {"default": "auto"}),
        Argument("--json", "print JSON, with the probability of each label"),
        *PROCESSES,
    )


def run(args: argparse.Namespace) -> int:
    """Train, or label."""
    from headway.ext.kinds.kind_training import train_kind
    from headway.training import RunDirectory

    directory = RunDirectory(args.run)
    unfinished = directory.started and not directory.record().finished
    of_training = (args.train, args.valid, args.preset, args.config, args.ranks, args.overrides)
    if any(of_training) or unfinished:
        if args.score and unfinished:
            raise UsageError("--score needs a finished run: train first")
        if args.score:
            raise UsageError("--score uses a finished run: omit the options of a training")
        return train_kind(args, "classifier")
    if args.attention and not args.json:
        raise UsageError("--attention needs --json")
    from headway.ext.kinds.text_classifier import TextClassifier

    act = score if args.score else label
    act(TextClassifier.load(args.run, args.device), args)
    return 0


def label(classifier: "TextClassifier", args: argparse.Namespace) -> None:
    """Label the lines of standard input, each TEXT or TEXT TAB SECOND."""
    from headway.cli import read_input
    from headway.ext.kinds.examples import split_parts

    for lines in read_input("label"):
        parts = [split_parts(line) for line in lines]
        for found in classifier.predict(parts, attention=args.attention):
            print(json.dumps(_values(found), ensure_ascii=False) if args.json else _line(found))
        sys.stdout.flush()


def score(classifier: "TextClassifier", args: argparse.Namespace) -> None:
    """Print the accuracy on labeled texts."""
    from headway.ext.kinds.examples import read_examples

    examples = list(read_examples([args.score]))
    if not examples:
        raise HeadwayError(f"{args.score}: holds no texts")
    found = classifier.predict([example.parts for example in examples])
    right = sum(a.label == b.label for a, b in zip(found, examples, strict=True))
    share = 100 * right / len(examples)
    if args.json:
        print(json.dumps({"accuracy": share, "right": right, "texts": len(examples)}))
    else:
        print(f"accuracy {share:.2f} %: {right} of {len(examples)}")


def _line(found: "Prediction") -> str:
    return f"{found.label}\t{found.probabilities[found.label]:.4f}"


def _values(found: "Prediction") -> dict[str, object]:
    values: dict[str, object] = {"label": found.label, "probabilities": found.probabilities}
    if found.tokens:
        values |= {"pieces": found.tokens, "attention": found.attention}
    return values
