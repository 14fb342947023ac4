"""``headway compare``: compare the translations of two systems, with significance tests."""

import argparse

from headway.cli.options import Argument, add_options
from headway.cli.scores import choose_language, print_scores, read_parallel_files

EXAMPLE = (
    "headway compare old.de new.de test.de --source test.en\n"
    "headway compare old.de new.de test.de --train train.de.gz --json"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        Argument("A", "translations of one system, one on each line"),
        Argument("B", "translations of the other system"),
        Argument("REFERENCE", "references, line by line"),
        Argument("--source FILE", "source text, shown beside the sentences"),
        Argument("--train FILE", "target side of the training text, by which rare words are found"),
        "--language CODE",
        Argument("--only MEASURE...", "metrics to compute (default: bleu chrf)"),
        Argument(
            "--sentences N", "shown where A is better, and where B is (default: 3)", {"default": 3}
        ),
        "--resamples N",
        "--seed N",
        "--json",
    )


def run(args: argparse.Namespace) -> None:
    """Print the comparison."""
    from headway.evaluation import compare, pick_metrics
    from headway.text.lines import check_read_once, read_lines

    check_read_once([args.a, args.b, args.reference, args.source, args.train])
    a, b, reference, sources = read_parallel_files(args.a, args.b, args.reference, args.source)
    comparison = compare(
        a,
        b,
        reference,
        sources=sources,
        training=read_lines(args.train) if args.train else None,
        language=choose_language(args),
        metrics=pick_metrics(args.only or ["bleu", "chrf"]),
        sentences=args.sentences,
        resamples=args.resamples,
        seed=args.seed,
        names=(args.a, args.b, args.reference, args.source or "source"),
    )
    print_scores(comparison, as_json=args.json)
