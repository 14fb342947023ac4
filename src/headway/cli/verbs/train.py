"""``headway train``: a model from raw parallel text; the loop itself is `headway.training.run`."""

import argparse
import sys
from dataclasses import replace

from headway.cli.options import (
    add_file_form,
    add_preset,
    add_ranks,
    file_form,
    language_code,
    model_or_name,
)

EXAMPLE = """\
headway train runs/mine --train a.en a.de --valid v.en v.de --preset quick
headway train runs/mine    # resumes the run where it stopped
headway train runs/two --train en-de a.en a.de --train en-fr b.en b.fr"""
SETTINGS = ("text", "model", "training", "search")
TRAINS = True  # the process may train


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("run", metavar="RUN", help="run directory; an existing run is resumed")
    parser.add_argument(
        "--train", nargs="+", action="append", metavar="FILE",
        help="source and target file; one .csv, .tsv, .jsonl or .tmx file; or corpora: hf:NAME,"
        " mtdata:ID, sacrebleu:SET; several pairs of languages: --train en-de FILES --train en-fr FILES",
    )  # fmt: skip
    parser.add_argument(
        "--valid", nargs="+", action="append", metavar="FILE",
        help="validation text; a number holds out so many pairs"
    )  # fmt: skip
    parser.add_argument(
        "--data", metavar="DIR", help="a directory of headway prepare, instead of text"
    )
    parser.add_argument(
        "--languages",
        nargs=2,
        metavar="CODE",
        type=language_code,
        help="codes of source and target (default: from the names)",
    )
    add_file_form(parser)
    parser.add_argument(
        "--init",
        metavar="MODEL",
        type=model_or_name,
        help="fine-tune this model (default: by its own regime)",
    )
    parser.add_argument(
        "--vocabulary", nargs="+", metavar="FILE",
        help="your own sentencepiece model or models",
    )  # fmt: skip
    parser.add_argument(
        "--other-languages",
        action="store_true",
        help="with --init: allow other languages than the model's",
    )
    add_preset(parser)
    parser.add_argument(
        "--minutes",
        type=float,
        metavar="M",
        help="how long a new run trains, in place of max-steps",
    )
    add_ranks(parser)
    parser.add_argument("--quiet", action="store_true", help="print errors only")


def run(args: argparse.Namespace) -> int:
    """Start or resume a run, train, and report on standard error."""
    from headway.cli.settings import given_changes
    from headway.cli.text_groups import fetch_text, fetch_validation, parse_text, parse_validation
    from headway.cli.training import plan_training, train_and_show
    from headway.training.starting.request import RunRequest
    from headway.training.storage.run_directory import RunDirectory

    request = RunRequest(
        train=parse_text(args.train, "--train"),
        valid=parse_validation(args.valid),
        data=args.data,
        languages=tuple(args.languages) if args.languages else None,
        form=file_form(args),
        init=args.init,
        vocabulary=args.vocabulary or (),
        other_languages=args.other_languages,
        preset=args.preset,
        changes=given_changes(args),
        minutes=args.minutes,
        command=["headway", *sys.argv[1:]],
    )
    with plan_training(RunDirectory(args.run), request) as plan:
        # Corpora are fetched before the ranks wait for each other, because that has a time limit.
        request = replace(request, train=fetch_text(args, "train"), valid=fetch_validation(args))
        return train_and_show(replace(plan, request=request), quiet=args.quiet, ranks=args.ranks)
