"""``headway parse``: the constituents of English sentences, as bracketed trees."""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.parsing.parser import Parse

EXAMPLE = """\
echo "He didn't see it." | headway parse runs/parser
headway parse runs/parser --gold test.tree > parsed.tree    # and says the F1"""
SETTINGS = ("search",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("model", metavar="MODEL", help="a run or model directory of a parser")
    parser.add_argument(
        "--words", action="store_true", help="the input is cut into words at its spaces already"
    )
    parser.add_argument(
        "--gold", metavar="FILE", help="parse the sentences of these trees, and say the F1"
    )
    parser.add_argument("--json", action="store_true", help="print JSON: tree and log-probability")
    parser.add_argument("--threads", type=int, default=0, help="processor threads (default: all)")


def run(args: argparse.Namespace) -> None:
    """Print a tree a line; a line without words stays empty."""
    from headway.cli.main import limit_threads, usage_error
    from headway.config import Config, merge_overrides
    from headway.errors import HeadwayError
    from headway.parsing.bracketing import agreement_of_all
    from headway.parsing.parser import PAPER, Parser
    from headway.parsing.treebank import read_treebank
    from headway.parsing.trees import escape, retag, tokenise

    try:
        search = merge_overrides(Config(search=PAPER), args.overrides).search
    except HeadwayError as error:
        usage_error(str(error))
    limit_threads(args.threads)
    gold = read_treebank(args.gold) if args.gold else []
    parser = Parser.load(args.model, search)
    if not args.gold:
        for lines in arriving_lines():
            cut = str.split if args.words else tokenise
            _print(parser.parse([escape(cut(line)) for line in lines]), args.json)
        return
    parses = parser.parse([tree.words() for tree in gold])
    _print(parses, args.json)
    # Which words are punctuation, and do not count, is for the treebank to say.
    tags = [[leaf.label for leaf in tree.leaves()] for tree in gold]
    trees = [parse.tree for parse in parses if parse is not None]
    scores = agreement_of_all(gold, map(retag, trees, tags))
    tagging = agreement_of_all(gold, trees).tagging
    print(
        f"F1 {scores.f1:.2f} (precision {scores.precision:.2f}, recall {scores.recall:.2f}) of"
        f" {scores.sentences} sentences; exact {100 * scores.exact / scores.sentences:.2f} %,"
        f" parts of speech {tagging:.2f} %; evalb's rules, beam {search.beam},"
        f" alpha {search.alpha}, at most {search.max_extra} tokens more than the sentence",
        file=sys.stderr,
    )


def arriving_lines() -> Iterator[list[str]]:
    """Yield the lines of standard input as they come."""
    from headway.cli.translate import arriving
    from headway.errors import HeadwayError

    if sys.stdin is None:
        raise HeadwayError("standard input is closed: nothing to parse")
    return arriving(sys.stdin.fileno())


def _print(parses: "list[Parse | None]", as_json: bool) -> None:
    for parse in parses:
        if as_json:
            values = (str(parse.tree), parse.log_probability) if parse else (None, None)
            print(json.dumps(dict(zip(("tree", "log_probability"), values, strict=True))))
        else:
            print(parse.tree if parse else "")
    sys.stdout.flush()
