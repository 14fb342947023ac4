"""``headway best``: the best model that a text allows, by several trainings in a row."""

import argparse
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from headway.cli import FILE_FORM, add_options, file_form, language_code
from headway.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headway.ext.best.execution import Processors
    from headway.ext.best.recipe_plan import Options, RecipePlan

EXAMPLE = """\
headway best runs/best --train a.en a.de --valid 1000 --hours 8 --dry-run
headway best runs/best    # goes on where it stopped"""
SETTINGS = ("text", "model", "training")
# What a plan depends on, besides --train, --valid and the settings.
PLANNED = (
    "test", "mono_source", "mono_target", "teacher", "hours", "languages", "encoding", "columns",
)  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("out", metavar="OUT", help="directory to create, or to go on with")
    for option, text in (
        ("--train", "training text, as for headway train"),
        ("--valid", "validation text; a number holds out so many pairs"),
        ("--test", "test text, whose pairs no training may see; it is not scored"),
    ):
        parser.add_argument(option, nargs="+", action="append", metavar="FILE", help=text)
    for option, text in (
        ("--mono-source", "plain text in the source language"),
        ("--mono-target", "plain text in the target language"),
    ):
        parser.add_argument(option, nargs="+", metavar="FILE", default=(), help=text)
    parser.add_argument(
        "--teacher", metavar="FILE", help="translations of the training sources by another system"
    )
    parser.add_argument(
        "--hours", type=float, metavar="H", help="plan for so long (default: all, at most 8 hours)"
    )
    parser.add_argument(
        "--preset", dest="no_preset", help=argparse.SUPPRESS
    )  # to say that there is none
    parser.add_argument("--dry-run", action="store_true", help="print the plan; write nothing")
    parser.add_argument(
        "--languages", nargs=2, metavar="CODE", type=language_code, help="of source and target"
    )
    add_options(parser, *FILE_FORM, "--ranks N")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="default: all cores")


def run(args: argparse.Namespace) -> int:
    """Plan, or go on with the plan in OUT."""
    from headway.cli import is_launched
    from headway.ext.best.execution import Processors, carry_out, describe_plan, say
    from headway.ext.best.recipe_plan import FILE, RecipePlan, check_new
    from headway.ext.best.stage_records import open_directory

    if is_launched():
        raise UsageError(
            "headway best starts processes of its own: start it without torchrun or srun"
        )
    if args.no_preset:
        raise UsageError(
            "--preset: headway best has no presets: it chooses settings by the size of the text, and --model.NAME and"
            " --training.NAME change them"
        )
    if args.hours is not None and not 0 < args.hours < math.inf:
        raise UsageError(f"--hours {args.hours:g}: must be a number of hours, more than 0")
    out = Path(args.out)
    if not out.name:  # "." or "/": the records need its name
        out = out.resolve()
    processors = Processors(args.ranks, args.threads)
    plan = find_plan(args, out, processors)
    if args.dry_run:
        print(describe_plan(out, plan))
        if not (out / FILE).exists():
            print(
                "\nthe command without --dry-run measures this machine anew: its plan may have other parts"
            )
        return 0
    with open_directory(out):
        stored = RecipePlan.read(out)
        if stored:  # by another process, if it was faster
            stored.check_options(out, plan.options)
        else:
            check_new(out)
            plan.write(out)
        say(describe_plan(out, stored or plan))
        return carry_out(out, stored or plan, processors)


def find_plan(args: argparse.Namespace, out: Path, processors: "Processors") -> "RecipePlan":
    """Return the plan in OUT, if the command line asks for the same, or make one."""
    from headway.ext.best.execution import make_plan
    from headway.ext.best.recipe_plan import RecipePlan, check_new

    plan = RecipePlan.read(out)
    if bool(args.train) != bool(args.valid):
        raise UsageError(
            "--train needs --valid too: give the validation text, or the number of pairs to hold out (--valid 500)"
            if args.train
            else "--valid needs --train too: give the training text"
        )
    if not args.train:
        if plan is None:
            raise UsageError(f"{out}: no plan there yet: give --train and --valid")
        if others := [name for name in PLANNED if getattr(args, name) not in (None, ())]:
            option = f"--{others[0].replace('_', '-')}"
        elif args.overrides:
            option = f"--{next(iter(args.overrides)).replace('_', '-')}"
        else:
            return plan
        raise UsageError(
            f"{option}: {out} is planned already: give none but OUT, or all options of the first command"
        )
    options = read_options(args)
    if plan is None:
        check_new(out)
        return make_plan(out, options, processors)
    plan.check_options(out, options)
    plan.check_files(out)
    return plan


def read_options(args: argparse.Namespace) -> "Options":
    """Return what the command line asks for; named corpora are fetched."""
    from headway.cli import fetch_text
    from headway.ext.best.recipe_plan import Options
    from headway.text import check_file_language, check_file_languages, languages_from_names

    require_one_pair(args)
    train, valid = fetch_text(args, "train"), fetch_text(args, "valid")
    assert not isinstance(train, Mapping)
    assert not isinstance(valid, Mapping)
    test = fetch_text(args, "test") if args.test else ()
    assert not isinstance(test, Mapping)
    source, target = args.languages or languages_from_names(train)
    others = [() if isinstance(valid, int) else valid, test]
    check_file_languages(train, *filter(None, others))
    for path in args.mono_source:
        check_file_language(path, source, target)
    for path in (*args.mono_target, *([args.teacher] if args.teacher else [])):
        check_file_language(path, target, source)
    form = file_form(args)
    return Options(
        train=_absolute(train),
        valid=valid if isinstance(valid, int) else _absolute(valid),
        languages=(source, target),
        encoding=form.encoding,
        columns=form.columns,
        test=_absolute(test),
        mono_source=_absolute(args.mono_source),
        mono_target=_absolute(args.mono_target),
        teacher=_absolute([args.teacher])[0] if args.teacher else None,
        hours=args.hours,
        settings={name.replace("_", "-"): value for name, value in args.overrides.items()},
    )


def require_one_pair(args: argparse.Namespace) -> None:
    """Check that the text is of one pair of languages, given once."""
    from headway.cli import is_group

    for option in ("train", "valid", "test"):
        given = getattr(args, option)
        if given and (len(given) > 1 or is_group(given[0])):
            raise UsageError(
                f"--{option} {given[-1][0]}: headway best trains one pair of languages, from one text: give"
                f" --{option} FILE FILE once, and --languages SOURCE TARGET if the names do not show them"
            )


def _absolute(files: "Sequence[str | Path]") -> list[str]:
    """Return the same names for any working directory; the plan can be carried out from another one."""
    return [str(Path(file).absolute()) for file in files]
