"""``headway compare``: compare the translations of two systems, with significance tests."""

import argparse
import json
import sys

from headway.cli.options import choose_language, known_language

EXAMPLE = (
    "headway compare old.de new.de test.de --source test.en\n"
    "headway compare old.de new.de test.de --train train.de.gz --json"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("a", metavar="A", help="translations of one system, one on each line")
    parser.add_argument("b", metavar="B", help="translations of the other system")
    parser.add_argument("reference", metavar="REFERENCE", help="references, line by line")
    parser.add_argument("--source", metavar="FILE", help="source text, shown beside the sentences")
    parser.add_argument(
        "--train",
        metavar="FILE",
        help="target side of the training text, by which rare words are found",
    )
    parser.add_argument(
        "--language",
        metavar="CODE",
        type=known_language,
        help="target language (default: the suffix of REFERENCE)",
    )
    parser.add_argument(
        "--only",
        metavar="MEASURE",
        nargs="+",
        default=["bleu", "chrf"],
        help="metrics to compute (default: bleu chrf)",
    )
    parser.add_argument(
        "--sentences",
        type=int,
        default=3,
        help="show so many sentences where A is better, and where B is (default: 3)",
    )
    parser.add_argument(
        "--resamples", type=int, default=1000, help="bootstrap resamples (default: 1000)"
    )
    parser.add_argument(
        "--seed", type=int, default=12345, help="seed of the bootstrap (default: 12345)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> None:
    """Print the comparison."""
    from headway.evaluation import compare, pick_metrics
    from headway.text.lines import check_read_once, read_lines

    check_read_once([args.a, args.b, args.reference, args.source, args.train])
    comparison = compare(
        list(read_lines(args.a)),
        list(read_lines(args.b)),
        list(read_lines(args.reference)),
        sources=list(read_lines(args.source)) if args.source else None,
        training=read_lines(args.train) if args.train else None,
        language=choose_language(args),
        metrics=pick_metrics(args.only),
        sentences=args.sentences,
        resamples=args.resamples,
        seed=args.seed,
        names=(args.a, args.b, args.reference, args.source or "source"),
    )
    for warning in comparison.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    text = json.dumps(comparison.to_dict(), indent=2, ensure_ascii=False)
    print(text if args.json else comparison.to_text())
