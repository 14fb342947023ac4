"""Settings from the command line: ``--preset``, ``--config`` and ``--section.name value``."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headway.errors import UsageError

if TYPE_CHECKING:
    from headway.config import Changes, Config, SearchConfig
    from headway.translation import Translator


def settings_from(
    args: argparse.Namespace,
    preset: str = "base",
    shape: "Config | None" = None,
) -> "Config":
    """Resolve ``--preset``, ``--config`` and single settings.

    Args:
        args: The parsed command line.
        preset: Used if the command line names none.
        shape: Settings whose sections text and model replace those of the preset.
    """
    from headway.config import find_preset

    settings = given_changes(args).apply(find_preset(args.preset or preset, shape))
    settings.check_positions()
    return settings


def given_changes(args: argparse.Namespace) -> "Changes":
    """Return the settings that ``--config`` and the command line change."""
    from headway.config import read_changes

    return read_changes([args.config] if args.config else []) + args.changes


def check_used(overrides: Mapping[str, str], used: Sequence[str], command: str) -> None:
    """Raise a `UsageError` if a setting of the command line has no effect.

    Args:
        overrides: The settings of the command line.
        used: The names of those that have an effect, or of their sections: ``search.beam`` or ``model``.
        command: What was called, for the message.
    """
    for name in overrides:
        key = name.replace("-", "_")
        if not {key, key.partition(".")[0]} & set(used):
            others = f"; settings with an effect: {', '.join(used)}" if used else ""
            raise UsageError(f"--{name}: has no effect on {command}: omit it{others}")


def choose_direction(translator: "Translator", args: argparse.Namespace) -> "Translator":
    """Return the translator for ``--to`` and ``--from``, or the translator as it is without them."""
    targets = {target for _, target in translator.pairs}
    if to := args.to or (args.source_language and len(targets) == 1 and targets.pop()):
        return translator.to(to, args.source_language, zero_shot=args.zero_shot)
    if args.source_language or args.zero_shot:
        raise UsageError("--from and --zero-shot need --to: give the target language")
    return translator


def load_translator(args: argparse.Namespace) -> "tuple[Translator, SearchConfig]":
    """Load the MODELs on ``--device``; return them with the search settings and those of the command line.

    If native code is missing, standard error says why. It also says if ``--glossary`` has no terms.

    Raises:
        HeadwayError: If the models cannot translate so; it is raised before an output is opened.
    """
    from headway.cli.process import prepare
    from headway.extension import require
    from headway.translation import Translator

    is_for_cpu = args.device == "auto" and args.overrides.get("search.precision") == "int8"
    device = "cpu" if is_for_cpu else args.device
    translator = choose_direction(
        Translator.load(args.models, device, backward=args.backward), args
    )
    assert translator.config is not None, "the translator was read from a directory"
    search: SearchConfig = args.changes.apply(translator.config).search
    if getattr(args, "glossary", None):
        read_glossary = require("--glossary", "names", "read_glossary")
        glossary = read_glossary(args.glossary, translator.languages)
        if not len(glossary):
            print(f"{args.glossary}: has no terms", file=sys.stderr)
        translator = translator.with_glossary(glossary)
    if getattr(args, "quality", False):
        require("--quality", "quality")
    translator.pipeline(search, quality=getattr(args, "quality", False))
    prepare("decoding", translator.device)
    return translator, search
