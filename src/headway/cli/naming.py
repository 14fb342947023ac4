"""What the command line may name instead of giving: corpora where it takes text, models on the hub."""

import argparse
import sys
from pathlib import Path

MODELS = ("model", "models", "init", "vocabulary")  # the arguments that a MODEL is given with


def local_text(args: argparse.Namespace, place: str) -> list[str]:
    """Return the files of ``--train``, ``--valid`` or ``--test``; corpora by name are fetched.

    Args:
        args: With languages; those of corpora by name.
        place: train, valid or test.
    """
    from headway.text.corpora import local_files, silent

    codes = (args.languages[0], args.languages[1]) if args.languages else None
    told = silent if getattr(args, "quiet", False) else say
    return local_files(getattr(args, place) or (), codes, place, told)


def local_models(args: argparse.Namespace) -> None:
    """Put directories in the place of models by name; what is no name stays as it is.

    Args:
        args: Of any verb.
    """
    for option in MODELS:
        given = getattr(args, option, None)
        if isinstance(given, str):
            setattr(args, option, _directory(given))
        elif given:
            setattr(args, option, [_directory(word) for word in given])


def _directory(word: str) -> str:
    if "/" not in word or Path(word).exists():
        return word
    from headway.inference.hub import NAME

    if not NAME.fullmatch(word):
        return word
    from headway.exchange.hub import find_any

    return str(find_any(word, say))


def say(line: str) -> None:
    """Tell the user, on standard error."""
    print(line, file=sys.stderr)
