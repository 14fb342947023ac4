"""``headway prepare``: training data from raw parallel text, prepared once for many runs."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli.options import (
    FILE_FORM,
    PRESET,
    REPEATED,
    REQUIRED,
    Argument,
    add_options,
    file_form,
)
from headway.errors import UsageError

if TYPE_CHECKING:
    from headway.text.preparation.preparing import Preparation

EXAMPLE = (
    "headway prepare data/mine --train a.en a.de --valid v.en v.de\n"
    "headway train runs/mine --data data/mine --preset small"
)
SETTINGS = ("text",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        Argument("OUT", "directory to create"),
        Argument(
            "--train FILE...",
            "source and target file; one .csv, .tsv, .jsonl or .tmx file (.gz, .xz, .zst); - for TSV on"
            " standard input; or corpora: hf:NAME, mtdata:ID, sacrebleu:SET; several pairs of languages:"
            " --train en-de FILES --train en-fr FILES",
            REPEATED | REQUIRED,
        ),
        Argument(
            "--valid FILE...",
            "validation text; a number holds out so many pairs",
            REPEATED | REQUIRED,
        ),
        Argument("--test FILE...", "test text; its pairs are dropped from training", REPEATED),
        "--languages CODE CODE",
        *FILE_FORM,
        Argument("--vocabulary FILE...", "sentencepiece model(s), or the MODEL of train --init"),
        Argument("--workers N", "processes (default: one for each core)", {"default": 0}),
        "--cluster ADDRESS",
        *PRESET,
    )


def run(args: argparse.Namespace) -> None:
    """Prepare the data, and print what was kept and dropped."""
    from headway.cli.downloads import fetch_model, fetch_text, parse_text
    from headway.cli.settings import settings_from
    from headway.devices import available_cores
    from headway.text.groups import list_targets
    from headway.text.preparation.plan import Plan
    from headway.text.preparation.preparing import Preparation
    from headway.text.prepared import PreparedData
    from headway.training.starting.fine_tuning import check_shape
    from headway.training.starting.given_vocabulary import use_vocabulary
    from headway.training.starting.opening import find_exchanged_sides
    from headway.translation.directory import load_model

    if args.workers < 0:
        raise UsageError(f"--workers {args.workers}: must be 1 or more, or 0 for one for each core")
    if args.workers and args.cluster:
        raise UsageError("--workers: has no effect with --cluster")
    model = tokenizer = None
    given = args.vocabulary or []
    if len(given) == 1 and not Path(given[0]).is_file():
        model = load_model(fetch_model(given[0]))
    config = settings_from(args, shape=model.config if model else None)
    if model:
        check_shape(config, model)
        tokenizer = model.tokenizer
    elif given:
        languages = list_targets(parse_text(args.train, "--train"))
        config, tokenizer = use_vocabulary(config, args.changes.options, given, languages)
    codes = (args.languages[0], args.languages[1]) if args.languages else None
    train, valid, test = (fetch_text(args, place) for place in ("train", "valid", "test"))
    plan = Plan.make(
        train, valid, config.text, codes,
        tests=[test] if test else [], tokenizer=tokenizer, form=file_form(args),
    )  # fmt: skip
    preparation = Preparation(plan, args.out)
    _prepare(preparation, args.workers or available_cores(), args.cluster or "")
    report = (preparation.out / "report.txt").read_text(encoding="utf-8")
    notices = find_exchanged_sides(PreparedData.open(preparation.out))
    print(report.rstrip(), *notices, sep="\n", file=sys.stderr)


def _prepare(preparation: "Preparation", workers: int, cluster: str) -> None:
    from headway.cli.display import ProgressBar

    bar = ProgressBar(None, unit="chunks")
    try:
        with bar:
            for progress in preparation.run(workers, cluster):
                bar.move(progress.chunks, progress.stage)
    except (KeyboardInterrupt, SystemExit):
        if preparation.work.exists():
            bar.say(f"interrupted: the same command goes on; otherwise delete {preparation.work}")
        raise
    finally:
        if preparation.notice:
            bar.say(preparation.notice)
