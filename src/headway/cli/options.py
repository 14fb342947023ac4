"""The options that several verbs have."""

import argparse


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add MODEL."""
    parser.add_argument(
        "model", metavar="MODEL", help="run or model directory, or a hub name: ORGANIZATION/NAME"
    )


def add_preset(parser: argparse.ArgumentParser, default: str = "base") -> None:
    """Add ``--preset`` and ``--config``, which `headway.cli.settings.settings_from` reads."""
    names = ("quick", "tiny", "small", "base", "big")
    listed = [f"{name} (default)" if name == default else name for name in names]
    parser.add_argument(
        "--preset", metavar="NAME", help=f"{', '.join(listed[:-1])} or {listed[-1]}"
    )
    parser.add_argument("--config", metavar="FILE", help="a TOML file that changes the preset")


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Add ``--device`` and ``--threads``."""
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--threads", type=int, default=0, help="processor threads (default: all)")
