"""Names on the command line in place of files: corpora and models that are downloaded first."""

import argparse
import sys
from pathlib import Path

from headway.errors import HeadwayError, suggest

MODELS = ("model", "models", "init", "backward")  # the arguments that take a MODEL


def fetch_models(args: argparse.Namespace) -> None:
    """Replace models on the hub, and models of other programs, by directories of Headway models."""
    for option in MODELS:
        given = getattr(args, option, None)
        if isinstance(given, str):
            setattr(args, option, fetch_model(given, takes_preset="takes_preset" in args))
        elif given:
            setattr(args, option, [fetch_model(word) for word in given])


def fetch_model(word: str, *, takes_preset: bool = False) -> str:
    """Return the directory of a Headway model.

    Args:
        word: A directory, a model of another program, or a name on the hub.
        takes_preset: Whether the word may also be the name of a preset, which is returned as it is.
    """
    from headway.config import PRESETS
    from headway.ext.exchange import hub
    from headway.ext.exchange.recognizing import is_foreign

    path = Path(word)
    is_other = path.exists() and is_foreign(path)
    if (path.is_dir() and not is_other) or (takes_preset and word in PRESETS):
        return word
    try:
        if not is_other:
            hub.parse_name(word)  # reports a mistyped path before torch is imported
    except HeadwayError as error:
        if takes_preset and (meant := suggest(word, PRESETS)):
            raise HeadwayError(f"{error}, or a preset{meant}") from None
        raise
    from headway.ext.exchange.downloading import download_and_import

    return str(download_and_import(word, print_notice))


def print_notice(line: str) -> None:
    """Print a message for the user on standard error."""
    print(line, file=sys.stderr)
