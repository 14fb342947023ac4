"""``headway best``: the best model that a text allows, by several trainings in a row."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.cli import FILE_FORM, Argument, add_options
from headway.errors import UsageError

if TYPE_CHECKING:
    from headway.ext.best.recipe_options import Options

EXAMPLE = """\
headway best runs/best --train a.en a.de --valid 1000 --hours 8 --dry-run
headway best runs/best    # goes on where it stopped"""
SETTINGS = ("text", "model", "training")
REPEATED = {"action": "append"}
LIST: dict[str, Any] = {"default": ()}
# What a plan depends on, besides --train, --valid and the settings.
PLANNED = (
    "test", "mono_source", "mono_target", "teacher", "hours", "without", "languages", "encoding", "columns",
)  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(
        parser,
        Argument("OUT", "directory to create, or to go on with"),
        Argument("--train FILE...", "training text, as for headway train", REPEATED),
        Argument("--valid FILE...", "validation text; a number holds out so many pairs", REPEATED),
        Argument("--test FILE...", "test text, whose pairs no training may see; it is not scored", REPEATED),
        Argument("--mono-source FILE...", "plain text in the source language", LIST),
        Argument("--mono-target FILE...", "plain text in the target language", LIST),
        Argument("--teacher FILE", "translations of the training sources by another system"),
        Argument("--hours H", "how long it may take (default: 8)", {"type": float}),
        Argument("--without PART...", "parts to leave out: back-translation, forward-translation, student,"
                 " longer-trainings, sweep, seeds", LIST),
        Argument("--dry-run", "print the plan; write nothing"),
        "--languages CODE CODE", *FILE_FORM, "--ranks N",
        Argument("--threads THREADS", "of all processes together (default: all cores)", {"default": 0}),
        Argument("--preset NAME", argparse.SUPPRESS, {"dest": "no_preset"}),  # to say that there is none
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Plan, or go on with the plan in OUT."""
    from headway.cli import is_launched
    from headway.ext.best.running import Processors, describe_recipe, run_recipe

    if is_launched():
        raise UsageError(
            "headway best starts processes of its own: start it without torchrun or srun"
        )
    if args.no_preset:
        raise UsageError(
            "--preset: headway best has no presets: it chooses settings by the size of the text, and --model.NAME and"
            " --training.NAME change them"
        )
    options, processors = given_options(args), Processors(args.ranks, args.threads)
    if args.dry_run:
        print(describe_recipe(Path(args.out), options, processors))
        return 0
    return run_recipe(Path(args.out), options, processors)


def given_options(args: argparse.Namespace) -> "Options | None":
    """Return what the command line asks for; None: to go on. Named corpora are fetched."""
    from headway.cli import fetch_text, is_group
    from headway.ext.best.recipe_options import Options

    if bool(args.train) != bool(args.valid):
        raise UsageError(
            "--train needs --valid too: give the validation text, or the number of pairs to hold out (--valid 500)"
            if args.train
            else "--valid needs --train too: give the training text"
        )
    if not args.train:
        given = [name for name in PLANNED if getattr(args, name) not in (None, ())]
        if given := [*given, *args.overrides]:
            raise UsageError(
                f"--{given[0].replace('_', '-')}: {args.out} is planned already, or needs --train and --valid: give none but"
                " OUT, or all options of the first command"
            )
        return None
    for option in ("train", "valid", "test"):
        given = getattr(args, option)
        if given and (len(given) > 1 or is_group(given[0])):
            raise UsageError(
                f"--{option} {given[-1][0]}: headway best trains one pair of languages, from one text: give"
                f" --{option} FILE FILE once, and --languages SOURCE TARGET if the names do not show them"
            )
    planned = {name: getattr(args, name) for name in PLANNED}
    texts = {name: fetch_text(args, name) for name in ("train", "valid", "test")}
    return Options(**planned | texts, settings=args.overrides).check()
