"""``headway parse``: print the constituency trees of English sentences."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from headway.cli import Argument, add_options

if TYPE_CHECKING:
    from headway.ext.paper.parsing.parser import Parse

EXAMPLE = """\
echo "He didn't see it." | headway parse runs/parser
headway parse runs/parser --gold test.tree > parsed.tree  # prints the F1"""
SETTINGS = ("search",)
SEARCH = (
    "search.beam",
    "search.alpha",
    "search.max_extra",
    "search.batch_tokens",
    "search.precision",
)
AT_ONCE = 200  # sentences of a treebank between two reports of progress


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        Argument("MODEL", "run or model directory of a parser"),
        Argument("--words", "the input is tokenized: split it only at spaces"),
        Argument("--gold FILE", "parse the sentences of this treebank and print the F1"),
        Argument("--json", "print JSON with tree and log-probability"),
        "--threads THREADS",
    )


def run(args: argparse.Namespace) -> None:
    """Print one tree for each input line, and an empty line for a line without words."""
    from headway.cli import LineProgress, check_used, read_input, set_threads
    from headway.config import Config
    from headway.ext.paper.parsing.bracketing import score_parser
    from headway.ext.paper.parsing.parser import PAPER, TreeParser
    from headway.ext.paper.parsing.treebank import read_all_trees
    from headway.ext.paper.parsing.words import split_words, tokenize_english

    check_used(args.overrides, SEARCH, "headway parse")
    search = args.changes.apply(Config(search=PAPER)).search
    set_threads(args.threads)
    gold = read_all_trees(args.gold) if args.gold else []
    parser = TreeParser.load(args.model, search)
    if not args.gold:
        for lines in read_input("parse"):
            split = split_words if args.words else tokenize_english
            _print(parser.parse([split(line) for line in lines]), args.json)
        return
    sentences = [tree.words() if tree else [] for tree in gold]
    parses: list[Parse | None] = []
    with LineProgress(len(sentences), 0, "sentences") as progress:
        for start in range(0, len(sentences), AT_ONCE):
            some = sentences[start : start + AT_ONCE]
            parses += parser.parse(some)
            _print(parses[start:], args.json)
            progress.update(len(parses), sum(map(len, some)))
    both = [(tree, p.tree) for tree, p in zip(gold, parses, strict=True) if tree and p]
    scores = score_parser(*map(list, zip(*both, strict=True)))
    left_out = f"; {scores.empty} of punctuation alone not counted" if scores.empty else ""
    print(
        f"F1 {scores.f1:.2f} (precision {scores.precision:.2f}, recall {scores.recall:.2f}) of"
        f" {scores.sentences} sentences{left_out}; exact {scores.exact_match:.2f} %,"
        f" parts of speech {scores.tagging:.2f} %; evalb's rules, beam {search.beam},"
        f" alpha {search.alpha}, trees of at most {search.max_extra} tokens more than the source",
        file=sys.stderr,
    )


def _print(parses: "list[Parse | None]", as_json: bool) -> None:
    for parse in parses:
        if as_json:
            values = (str(parse.tree), parse.log_probability) if parse else (None, None)
            print(json.dumps(dict(zip(("tree", "log_probability"), values, strict=True))))
        else:
            print(parse.tree if parse else "")
    sys.stdout.flush()
