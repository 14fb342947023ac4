"""``headway classify``: train a classifier of texts, or label texts with one."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from headway.cli import Argument
from headway.errors import HeadwayError, UsageError

if TYPE_CHECKING:
    from headway.ext.kinds.text_classifier import TextClassifier

EXAMPLE = """\
headway classify runs/kinds --train train.tsv --valid valid.tsv
headway classify runs/kinds < texts > labels
headway classify runs/kinds --json --attention < texts"""
SETTINGS = ("text", "model", "training")
TRAINS = True  # the process may train


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    from headway.ext.kinds.kind_training import add_arguments

    add_arguments(
        parser,
        "run directory; a finished run labels standard input",
        ".tsv file (label, text, optional second text) or .jsonl file",
        Argument("--score FILE", "print the accuracy on a file with labels"),
        Argument("--attention", "with --json: also print how much attention each token receives"),
    )


def run(args: argparse.Namespace) -> int:
    """Train, or label."""
    from headway.cli import check_used
    from headway.ext.kinds.kind_training import OF_TRAINING, refuse, train_kind
    from headway.training import RunDirectory

    directory = RunDirectory(args.run)
    if args.score:
        refuse(args, OF_TRAINING, "is for a training, but --score uses a trained model")
        check_used(args.overrides, (), "--score")
    elif (
        (directory.started and not directory.record().finished)
        or args.overrides
        or any(getattr(args, option) for option in OF_TRAINING)
    ):
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
            if not args.json:
                print(f"{found.label}\t{found.probabilities[found.label]:.4f}")
                continue
            values: dict[str, object] = {"label": found.label, "probabilities": found.probabilities}
            if args.attention:
                values |= {"pieces": found.tokens, "attention": found.attention}
            print(json.dumps(values, ensure_ascii=False))
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
