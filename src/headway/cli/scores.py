"""What the verbs share that score translations."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headway.cli.options import Argument
from headway.errors import HeadwayError

if TYPE_CHECKING:
    from headway.evaluation import Comparison, Metric, ScoreSheet

SHOWN = (
    "bleu",
    "chrf",
    "ter",
)  # of the metrics; the others are variants that some publications have
ALL = Argument("--all", "print also variants of BLEU that publications have")


def read_parallel_files(*names: str | None) -> list[Any]:
    """Return the lines of each file, and None for a file that is not given.

    Raises:
        HeadwayError: If a file has another number of lines than the first, or two are standard input.
    """
    from headway.text.lines import check_read_once, read_lines

    check_read_once(names)
    files: list[Any] = [name and list(read_lines(name)) for name in names]
    for name, lines in zip(names, files, strict=True):
        if name and len(lines) != len(files[0]):
            raise HeadwayError(
                f"{names[0]} has {len(files[0])} lines, but {name} has {len(lines)}:"
                " line n of one must belong to line n of the other"
            )
    return files


def choose_language(args: argparse.Namespace) -> str:
    """Return the language that ``--language`` gives, or else the reference's file name, or else "en", with a notice."""
    from headway.text.groups import language_from_name

    if language := args.language or language_from_name(args.reference):
        return str(language)
    print(
        f"{args.reference}: the name has no language code: tokenized as 'en'; --language CODE changes that",
        file=sys.stderr,
    )
    return "en"


def choose_metrics(args: argparse.Namespace) -> "Sequence[Metric]":
    """Return the metrics of a score sheet: those of ``--only``, all with ``--all`` or ``--json``, or else `SHOWN`."""
    from headway.evaluation import METRICS, pick_metrics

    only = getattr(args, "only", None)
    return METRICS if not only and (args.all or args.json) else pick_metrics(only or SHOWN)


def print_scores(found: "ScoreSheet | Comparison", *, as_json: bool, title: str = "") -> None:
    """Print scores as text or as JSON, and their warnings on standard error.

    Args:
        found: The scores.
        as_json: Print JSON.
        title: Stands before the text.
    """
    for warning in found.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if as_json:
        print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        print(title + found.to_text())
