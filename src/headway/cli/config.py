"""``headway config``: print every setting with its meaning, as a TOML file to edit."""

import argparse

EXAMPLE = (
    "headway config --preset small > mine.toml\nheadway train runs/mine --config mine.toml ..."
)
SETTINGS = ("text", "model", "training", "search")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "--preset", metavar="NAME", help="quick, tiny, small, base (default) or big"
    )
    parser.add_argument("--config", metavar="FILE", help="a TOML file that changes the preset")
    parser.add_argument(
        "--only",
        metavar="SECTION",
        choices=(*SETTINGS, "server"),
        help="print only this section: text, model, training, search or server",
    )


def run(args: argparse.Namespace) -> None:
    """Print the resolved settings."""
    from headway.cli.settings import settings_from
    from headway.config import to_toml

    print(to_toml(settings_from(args), [args.only] if args.only else SETTINGS))
