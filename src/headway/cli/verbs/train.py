"""``headway train``: a model from raw parallel text; the loop itself is `headway.training.run`."""

import argparse
import sys
from dataclasses import replace

from headway.cli.options import FILE_FORM, PRESET, REPEATED, Argument, add_options, file_form

EXAMPLE = """\
headway train runs/mine --train a.en a.de --valid v.en v.de --preset quick
headway train runs/mine    # resumes the run where it stopped
headway train runs/two --train en-de a.en a.de --train en-fr b.en b.fr"""
SETTINGS = ("text", "model", "training", "search")
TRAINS = True  # the process may train


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        Argument("RUN", "run directory; an existing run is resumed"),
        Argument(
            "--train FILE...",
            "source and target file; one .csv, .tsv, .jsonl or .tmx file; or corpora: hf:NAME,"
            " mtdata:ID, sacrebleu:SET; several pairs of languages: --train en-de FILES --train en-fr FILES",
            REPEATED,
        ),
        Argument("--valid FILE...", "validation text; a number holds out so many pairs", REPEATED),
        Argument("--data DIR", "a directory of headway prepare, instead of text"),
        "--languages CODE CODE",
        *FILE_FORM,
        Argument("--init MODEL", "fine-tune this model (default: by its own regime)"),
        Argument("--vocabulary FILE...", "your own sentencepiece model or models"),
        Argument("--other-languages", "with --init: allow other languages than the model's"),
        *PRESET,
        Argument("--minutes M", "how long a new run trains, in place of max-steps"),
        "--ranks N",
        Argument("--quiet", "print errors only"),
    )


def run(args: argparse.Namespace) -> int:
    """Start or resume a run, train, and report on standard error."""
    from headway.cli.downloads import fetch_text, parse_text
    from headway.cli.launch import is_launched
    from headway.cli.settings import given_changes
    from headway.cli.training import train_and_show
    from headway.training.starting.plan import planned
    from headway.training.starting.request import RunRequest
    from headway.training.storage.run_directory import RunDirectory

    request = RunRequest(
        train=parse_text(args.train, "--train"),
        valid=parse_text(args.valid, "--valid"),
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
    # Ranks that a launcher has started lock when they have joined: one that failed before would not be noticed.
    with planned(RunDirectory(args.run), request, locks=not is_launched()) as plan:
        # Corpora are fetched before the ranks wait for each other, because that has a time limit.
        request = replace(request, train=fetch_text(args, "train"), valid=fetch_text(args, "valid"))
        return train_and_show(replace(plan, request=request), quiet=args.quiet, ranks=args.ranks)
