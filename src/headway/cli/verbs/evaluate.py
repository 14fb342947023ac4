"""``headway evaluate``: translate a test set and score it, or score given translations by the model."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli.options import (
    DIRECTION,
    MACHINE,
    REQUIRED,
    Argument,
    add_extension_options,
    add_options,
    list_extension_options,
    use_extension_options,
)
from headway.cli.output_checks import check_output
from headway.cli.scores import ALL, choose_metrics, print_scores, read_parallel_files
from headway.errors import UsageError

if TYPE_CHECKING:
    from headway.config import SearchConfig

EXAMPLE = (
    "headway evaluate runs/mine --source test.en --reference test.de\n"
    "headway evaluate runs/mine --source a.en --reference a.de --per-line > scores"
)
SETTINGS = ("search",)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        "MODEL...",
        Argument("--source FILE", "source text, one sentence on each line", REQUIRED),
        Argument("--reference FILE", "reference translations, line by line", REQUIRED),
        Argument("--output FILE", "write the translations to this file"),
        Argument("--per-line", "do not translate; print the log-probability of each reference"),
        ALL,
        Argument("--comet", "also run comet-score, which must be installed"),
        "--json",
        *DIRECTION,
        "--backward MODEL",
        *MACHINE,
    )
    add_extension_options(parser, "evaluate")


def run(args: argparse.Namespace) -> None:
    """Print the scores, or a log-probability for each line."""
    from headway.cli.process import set_threads
    from headway.cli.settings import load_translator
    from headway.text.groups import check_file_language, language_from_name
    from headway.text.languages import NAMES, base_code

    check_options(args)
    if args.comet:
        from headway.evaluation import find_comet

        find_comet()  # before translating, which may take minutes
    sources, references = read_parallel_files(args.source, args.reference)
    set_threads(args.threads)

    translator, search = load_translator(args)  # after the user's mistakes: this imports torch
    source, target = translator.languages
    check_file_language(args.source, source, target)
    check_file_language(args.reference, target, source)
    found = language_from_name(args.reference)
    if found in NAMES and base_code(found) != base_code(target):
        print(
            f"{args.reference}: its name says {found}, but the model translates into {target}",
            file=sys.stderr,
        )
    if args.per_line:
        for score in translator.score(sources, references):
            print(f"{score:.6f}")
        return
    if use_extension_options(args, translator, sources, references):
        return

    from headway.evaluation import score_sheet
    from headway.files import replace_text

    hypotheses = [found[0].text for found in translator.stream(sources, search)]
    if args.output:
        replace_text(Path(args.output), "".join(f"{line}\n" for line in hypotheses))
    sheet = score_sheet(
        hypotheses,
        references,
        sources,
        language=translator.languages[1],
        metrics=choose_metrics(args),
        names=(args.output or "translation", args.reference, args.source),
        comet=args.comet,
    )
    title = f"{' + '.join(args.models)}: {describe(search, args.backward)}\n"
    print_scores(sheet, as_json=args.json, title=title)


def check_options(args: argparse.Namespace) -> None:
    """Check that the options fit together, and that no text is overwritten.

    Raises:
        UsageError: If an option would have no effect, or ``--output`` is a text that is read.
    """
    per_line = ["--per-line"] if args.per_line else []
    modes = [*per_line, *list_extension_options(args)]  # each of which is all that is done
    if modes:
        given = [
            name for name in ("output", "json", "all", "comet", "backward") if getattr(args, name)
        ]
        if unused := [*modes[1:], *(f"--{name}" for name in (*given, *args.overrides))]:
            raise UsageError(f"{unused[0]}: has no effect with {modes[0]}: omit one of them")
    if args.output == "-":
        raise UsageError("--output -: standard output has the scores: give a file")
    if args.output:
        check_output(
            "--output", Path(args.output), {"--source": args.source, "--reference": args.reference}
        )


def describe(search: "SearchConfig", backward: str | None) -> str:
    """Return how the translations are found, in a few words."""
    judge = backward or ("the model itself" if search.round_trip else "")
    beam = max(search.beam, search.candidates) if search.mbr or judge else search.beam
    how = f"beam {beam}, alpha {search.alpha:g}" if beam > 1 else "greedy"
    how = f"sampled, seed {search.seed}" if search.sample else how
    if search.mbr:
        return f"{how}, minimum Bayes risk among {search.candidates}"
    return f"{how}, {search.candidates} candidates reranked with {judge}" if judge else how
