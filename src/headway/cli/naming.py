"""What the command line may name instead of giving: corpora where it takes text, models on the hub."""

import argparse
import sys


def local_text(args: argparse.Namespace, place: str) -> list[str]:
    """Return the files of ``--train``, ``--valid`` or ``--test``; corpora by name are fetched.

    Args:
        args: With languages; those of corpora by name.
        place: train, valid or test.
    """
    from headway.text.corpora import local_files, silent

    codes = (args.languages[0], args.languages[1]) if args.languages else None
    say = silent if getattr(args, "quiet", False) else _say
    return local_files(getattr(args, place) or (), codes, place, say)


def _say(line: str) -> None:
    print(line, file=sys.stderr)
