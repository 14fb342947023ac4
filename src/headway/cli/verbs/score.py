"""``headway score``: score a file of translations."""

import argparse
import json
import sys

from headway.cli.options import Argument, add_options, choose_language

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
        Argument("--comet", "also run comet-score, which must be installed; needs --source"),
        Argument(
            "--resamples RESAMPLES",
            "bootstrap resamples for each confidence interval (default: 1000)",
            {"default": 1000},
        ),
        "--seed SEED",
        "--json",
    )


def run(args: argparse.Namespace) -> None:
    """Print the scores."""
    from dataclasses import replace

    from headway.errors import HeadwayError
    from headway.evaluation import (
        METRICS,
        comet_score,
        find_comet,
        pick_metrics,
        score_sheet,
    )
    from headway.text.lines import check_read_once, read_lines

    if args.comet:
        if args.source is None:
            raise HeadwayError("--comet needs --source FILE: COMET reads the source too")
        find_comet()
    check_read_once([args.hypothesis, args.reference, args.source])
    hypotheses, references = list(read_lines(args.hypothesis)), list(read_lines(args.reference))
    sources = list(read_lines(args.source)) if args.source else None
    language = choose_language(args)
    sheet = score_sheet(
        hypotheses,
        references,
        sources,
        language=language,
        metrics=pick_metrics(args.only) if args.only else METRICS,
        resamples=args.resamples,
        seed=args.seed,
        names=(args.hypothesis, args.reference, args.source or "source"),
    )
    if args.comet and sources is not None:
        sheet = replace(sheet, comet=comet_score(sources, hypotheses, references))
    for warning in sheet.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    print(
        json.dumps(sheet.to_dict(), indent=2, ensure_ascii=False) if args.json else sheet.to_text()
    )
