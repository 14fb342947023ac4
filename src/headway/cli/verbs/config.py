"""``headway config``: print every setting with its meaning, as a TOML file to edit."""

import argparse

from headway.cli.options import add_preset

EXAMPLE = (
    "headway config --preset small > mine.toml\nheadway train runs/mine --config mine.toml ..."
)
SETTINGS = ("text", "model", "training", "search")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_preset(parser)
    parser.add_argument(
        "--only",
        metavar="SECTION",
        choices=(*SETTINGS, "server"),
        help="print only this section: text, model, training, search or server",
    )


def run(args: argparse.Namespace) -> None:
    """Print the resolved settings."""
    from headway.cli.settings import settings_from
    from headway.config.loading import to_toml

    settings = settings_from(args, sections=(*SETTINGS, "server"))
    print(to_toml(settings, [args.only] if args.only else SETTINGS))
