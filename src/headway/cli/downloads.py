"""Names on the command line in place of files: corpora and models that are downloaded first."""

import argparse
import sys
from typing import TYPE_CHECKING

from headway.errors import HeadwayError, suggest
from headway.extension import load_all

if TYPE_CHECKING:
    from pathlib import Path

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
    from pathlib import Path  # not for the help of the command

    from headway.config import PRESETS

    path = Path(word)
    is_other = path.exists() and is_of_other_program(path)
    if (path.is_dir() and not is_other) or (takes_preset and word in PRESETS):
        return word
    try:
        return str(fetch_by_sources(word))
    except HeadwayError as error:
        if takes_preset and "/" not in word and (meant := suggest(word, PRESETS)):
            raise HeadwayError(f"{error}, or a preset{meant}") from None
        raise


def fetch_by_sources(word: str) -> "Path":
    """Return the directory that the first extension has which knows a model of another program, or a name.

    Raises:
        HeadwayError: If no extension has the model; the message is from the last extension that was asked.
    """
    from pathlib import Path

    path, failure = Path(word), f"{word}: no such directory: give a run or model directory"
    sources = [source for _, source in load_all("models")]
    for source in sources:
        if path.exists() and not source.is_foreign(path) and source is not sources[-1]:
            continue
        try:
            found: Path = source.fetch(word, print_notice)
            return found
        except HeadwayError as error:
            if path.exists() or source is sources[-1]:
                raise
            failure = str(error)
    raise HeadwayError(failure)


def is_of_other_program(path: "Path") -> bool:
    """Return whether a file or directory is a model of another program that an extension knows."""
    return any(source.is_foreign(path) for _, source in load_all("models"))


def print_notice(line: str) -> None:
    """Print a message for the user on standard error."""
    print(line, file=sys.stderr)
