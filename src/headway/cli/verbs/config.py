"""``headway config``: print every setting with its meaning, as a TOML file to edit."""

import argparse

from headway.cli.options import PRESET, Argument, add_options

EXAMPLE = (
    "headway config --preset small > mine.toml\nheadway train runs/mine --config mine.toml ..."
)
SETTINGS = ("text", "model", "training", "search")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    from headway.extension import collect

    names = (*SETTINGS, *collect("sections", SETTINGS))
    meaning = f"print only this section: {', '.join(names)}"
    add_options(parser, *PRESET, Argument("--only SECTION", meaning, {"choices": names}))


def run(args: argparse.Namespace) -> None:
    """Print the resolved settings."""
    from headway.cli.settings import check_used, settings_from
    from headway.config.loading import load_section
    from headway.config.toml import to_toml

    if args.only and args.only not in SETTINGS:
        check_used(args.overrides, [args.only], f"--only {args.only}")
        files = [args.config] if args.config else []
        sections = {args.only: load_section(args.only, files, args.overrides)}
    else:
        found = settings_from(args).sections()
        sections = {args.only: found[args.only]} if args.only else found
    print(to_toml(sections))
