"""``headway treebank``: turn bracketed trees into training data for a parser."""

import argparse
import sys

from headway.cli import Argument, add_options

REQUIRED = {"required": True}
EXAMPLE = """\
headway treebank data/trees --train train.tree --valid valid.tree --numbers
headway train runs/parser --data data/trees --preset quick --model.tying none"""
SETTINGS = ("text",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        Argument("DIR", "directory to create"),
        Argument("--train FILE...", "training trees, one on each line", REQUIRED),
        Argument("--valid FILE...", "validation trees, one on each line", REQUIRED),
        Argument(
            "--numbers",
            "number the words, in sentence and tree, so that the model need not count",
        ),
        Argument("--preset NAME", "preset that gives the vocabulary size (default: quick)"),
        Argument("--config FILE", "a TOML file with a section [text]"),
    )


def run(args: argparse.Namespace) -> None:
    """Write the prepared directory and print its sizes."""
    from headway.cli import settings_from
    from headway.ext.paper.parsing.treebank import prepare_treebank, read_treebank

    config = settings_from(args, preset="quick").text
    train, valid = (
        [tree for path in paths for tree in read_treebank(path)]
        for paths in (args.train, args.valid)
    )
    data = prepare_treebank(train, valid, args.dir, config, numbered=args.numbers)
    sizes = data.tokenizer.source_vocab_size, data.tokenizer.target_vocab_size
    print(
        f"{args.dir}: {len(data.train)} trees for training, {len(data.valid)} for validation;"
        f" vocabulary: {sizes[0]} subwords, {sizes[1]} labels and parts of speech",
        file=sys.stderr,
    )
