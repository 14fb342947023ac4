"""Settings from the command line: ``--preset``, ``--config`` and ``--section.name value``."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headway.cli.arguments import usage_error
from headway.errors import HeadwayError

if TYPE_CHECKING:
    from headway.config import Changes, Config, SearchConfig
    from headway.translation import Translator


def settings_from(
    args: argparse.Namespace,
    preset: str = "base",
    shape: "Config | None" = None,
) -> "Config":
    """Resolve ``--preset``, ``--config`` and single settings; a mistake exits with 2.

    Args:
        args: The parsed command line.
        preset: Used if the command line names none.
        shape: Settings whose sections text and model replace those of the preset.
    """
    from headway.config import find_preset

    try:
        settings = given_changes(args).apply(find_preset(args.preset or preset, shape))
        settings.check_positions()
        return settings
    except HeadwayError as error:
        usage_error(str(error))


def given_changes(args: argparse.Namespace) -> "Changes":
    """Return the settings that ``--config`` and the command line change; a mistake exits with 2."""
    from headway.config import read_changes

    try:
        return read_changes([args.config] if args.config else []) + args.changes
    except HeadwayError as error:
        usage_error(str(error))


def check_used(overrides: Mapping[str, str], used: Sequence[str], command: str) -> None:
    """Exit with 2 if a setting of the command line has no effect.

    Args:
        overrides: The settings of the command line.
        used: The names of those that have an effect, or of their sections: ``search.beam`` or ``model``.
        command: What was called, for the message.
    """
    for name in overrides:
        key = name.replace("-", "_")
        if not {key, key.partition(".")[0]} & set(used):
            others = f"; settings with an effect: {', '.join(used)}" if used else ""
            usage_error(f"--{name}: has no effect on {command}: omit it{others}")


def override_search(translator: "Translator", changes: "Changes") -> "SearchConfig":
    """Return the search settings of a model with those of the command line; a mistake exits with 2."""
    assert translator.config is not None, "the translator was read from a directory"
    try:
        search: SearchConfig = changes.apply(translator.config).search
    except HeadwayError as error:
        usage_error(str(error))
    if search.mbr and translator.backward is not None:  # before an output is opened
        usage_error("--search.mbr and --backward both choose: use one of them")
    translator.choose_backward(
        search
    )  # so that a model that cannot is named before an output is opened
    return search


def choose_direction(translator: "Translator", args: argparse.Namespace) -> "Translator":
    """Return the translator for ``--to`` and ``--from``, or the translator as it is without them."""
    from headway.errors import UsageError

    targets = {target for _, target in translator.pairs}
    if to := args.to or (args.source_language and len(targets) == 1 and targets.pop()):
        return translator.to(to, args.source_language, zero_shot=args.zero_shot)
    if args.source_language or args.zero_shot:
        raise UsageError("--from and --zero-shot need --to: give the target language")
    return translator


def open_translator(args: argparse.Namespace) -> "Translator":
    """Load the MODELs and the model of ``--backward``, for the direction of ``--to``."""
    from headway.translation import Translator

    is_for_cpu = args.device == "auto" and args.overrides.get("search.precision") == "int8"
    device = "cpu" if is_for_cpu else args.device
    return choose_direction(Translator.load(args.models, device, backward=args.backward), args)


def load_translator(args: argparse.Namespace) -> "tuple[Translator, SearchConfig]":
    """Load the MODELs on ``--device``; return them with the search settings and those of the command line.

    If native code is missing, standard error says why. It also says if ``--glossary`` has no terms.
    """
    from headway.cli.process import prepare

    translator = open_translator(args)
    search = override_search(translator, args.changes)
    if getattr(args, "glossary", None):
        from headway.extension import require

        read_glossary = require("--glossary", "names", "read_glossary")
        if search.sample:
            usage_error(
                "--search.sample and --glossary: samples cannot follow a glossary; drop one"
            )
        glossary = read_glossary(args.glossary, translator.languages)
        if not len(glossary):
            print(f"{args.glossary}: has no terms", file=sys.stderr)
        translator = translator.with_glossary(glossary)
    if getattr(args, "quality", False):
        from headway.extension import require

        require("--quality", "quality")
        translator.quality_model  # noqa: B018  a model without one is refused before the work begins
    prepare("decoding", translator.device)
    return translator, search
