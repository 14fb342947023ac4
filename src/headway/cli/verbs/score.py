"""``headway score``: score a file of translations."""

import argparse

from headway.cli.options import Argument, add_options
from headway.cli.scores import (
    ALL,
    choose_language,
    choose_metrics,
    print_scores,
    read_parallel_files,
)

EXAMPLE = (
    "headway score output.de test.de --source test.en\nheadway score output.de.gz test.de.gz --json"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        Argument("HYPOTHESIS", "translations as plain text, one on each line"),
        Argument("REFERENCE", "references, line by line"),
        Argument("--source FILE", "source text, by which untranslated lines are found"),
        "--language CODE",
        Argument("--only MEASURE...", "compute only these metrics, such as: bleu chrf ter"),
        ALL,
        Argument("--comet", "also run comet-score, which must be installed; needs --source"),
        "--resamples N",
        "--seed N",
        "--json",
    )


def run(args: argparse.Namespace) -> None:
    """Print the scores."""
    from headway.errors import HeadwayError
    from headway.evaluation import score_sheet

    if args.comet and args.source is None:
        raise HeadwayError("--comet needs --source FILE: COMET reads the source too")
    files = args.hypothesis, args.reference, args.source
    hypotheses, references, sources = read_parallel_files(*files)
    sheet = score_sheet(
        hypotheses,
        references,
        sources,
        language=choose_language(args),
        metrics=choose_metrics(args),
        resamples=args.resamples,
        seed=args.seed,
        names=(args.hypothesis, args.reference, args.source or "source"),
        comet=args.comet,
    )
    print_scores(sheet, as_json=args.json)
