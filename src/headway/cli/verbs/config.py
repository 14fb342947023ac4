"""``headway config``: print every setting with its meaning, as a TOML file to edit."""

import argparse

from headway.cli.options import add_preset

EXAMPLE = (
    "headway config --preset small > mine.toml\nheadway train runs/mine --config mine.toml ..."
)
SETTINGS = ("text", "model", "training", "search")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    from headway.extension import collect

    add_preset(parser)
    *names, last = *SETTINGS, *collect("sections", SETTINGS)
    parser.add_argument(
        "--only",
        metavar="SECTION",
        choices=(*names, last),
        help=f"print only this section: {', '.join(names)} or {last}",
    )


def run(args: argparse.Namespace) -> None:
    """Print the resolved settings."""
    from headway.cli.settings import settings_from
    from headway.config.loading import load_section, to_toml

    if args.only and args.only not in SETTINGS:
        sections = {args.only: load_section(args.only, [args.config] if args.config else [])}
    else:
        found = settings_from(args).sections()
        sections = {args.only: found[args.only]} if args.only else found
    print(to_toml(sections))
