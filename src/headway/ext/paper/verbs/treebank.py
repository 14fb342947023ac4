"""``headway treebank``: turn bracketed trees into training data for a parser."""

import argparse
import sys

EXAMPLE = """\
headway treebank data/trees --train train.tree --valid valid.tree --parts
headway train runs/parser --data data/trees --preset tiny --model.tying none"""
SETTINGS = ("text",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("out", metavar="DIR", help="directory to create")
    parser.add_argument(
        "--train", nargs="+", metavar="FILE", required=True, help="training trees, one on each line"
    )
    parser.add_argument(
        "--valid",
        nargs="+",
        metavar="FILE",
        required=True,
        help="validation trees, one on each line",
    )
    parser.add_argument(
        "--parts",
        action="store_true",
        help="also train on every constituent as a sentence of its own",
    )
    parser.add_argument(
        "--numbers",
        action="store_true",
        help="number the words, in sentence and tree, so that the model need not count",
    )
    parser.add_argument(
        "--preset", metavar="NAME", help="preset that gives the vocabulary size (default: tiny)"
    )
    parser.add_argument("--config", metavar="FILE", help="a TOML file with a section [text]")


def run(args: argparse.Namespace) -> None:
    """Write the prepared directory and print its sizes."""
    from headway.cli import settings_from
    from headway.ext.paper.parsing.treebank import prepare_treebank, read_treebank

    config = settings_from(args, preset="tiny").text
    train, valid = (
        [tree for path in paths for tree in read_treebank(path)]
        for paths in (args.train, args.valid)
    )
    data = prepare_treebank(
        train, valid, args.out, config, with_parts=args.parts, numbered=args.numbers
    )
    sizes = data.tokenizer.source_vocab_size, data.tokenizer.target_vocab_size
    print(
        f"{args.out}: {len(data.train)} trees for training, {len(data.valid)} for validation;"
        f" vocabulary: {sizes[0]} subwords, {sizes[1]} labels and parts of speech",
        file=sys.stderr,
    )
