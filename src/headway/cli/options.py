"""The options that several verbs have."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.text.readers import FileForm


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add MODEL."""
    parser.add_argument(
        "model", metavar="MODEL", help="run or model directory, or a hub name: ORGANIZATION/NAME"
    )


def add_file_form(parser: argparse.ArgumentParser) -> None:
    """Add ``--encoding`` and ``--columns``, which `file_form` reads."""
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="encoding of text that is not UTF-8, such as cp1252 (UTF-16 is recognized)",
    )
    parser.add_argument(
        "--columns",
        nargs=2,
        metavar="COLUMN",
        help="source and target column of a .csv or .tsv file: names in its first row, or numbers from 1",
    )


def file_form(args: argparse.Namespace) -> "FileForm":
    """Return how the files of the command line are written."""
    from headway.text.readers import FileForm

    columns = (args.columns[0], args.columns[1]) if args.columns else None
    return FileForm(args.encoding, columns)


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
