"""The command ``headway``: run a verb, and report an error in one line.

Nothing that is slow to import is imported before a verb runs, so that help is instant. Exit codes: 0,
1 for an error, 2 for a mistake on the command line, 130 interrupted, 143 stopped by SIGTERM, 129 by
SIGHUP.
"""

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from headway import __version__
from headway.cli.arguments import parse
from headway.cli.error_messages import report_errors
from headway.cli.process import set_training_environment
from headway.cli.signals import forced_end
from headway.cli.slurm import rank_variables
from headway.cli.standard_output import open_standard_files
from headway.cli.verbs import load_verb, overview

STOP_LIMIT = 4.0  # seconds from SIGINT or SIGTERM to the end of a command that has nothing to save


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run ``headway`` with the arguments of the process and exit."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    open_standard_files()
    # SIGTERM and a closed terminal end a verb as Ctrl-C does, so that it removes its unfinished files.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    with forced_end(STOP_LIMIT):
        code = report_errors(lambda: dispatch(arguments))
    sys.exit(code)


def dispatch(arguments: Sequence[str]) -> int:
    """Run the verb that the arguments name and return the exit code."""
    if arguments and arguments[0] == "help":
        arguments = [*arguments[1:2], "--help"]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(overview())
        return 0 if arguments else 2
    if arguments[0] in ("-V", "--version"):
        print(f"headway {__version__}")
        return 0
    verb, *rest = arguments
    module = load_verb(verb)
    os.environ |= rank_variables(os.environ)
    args = parse(verb, module, rest)
    if getattr(module, "TRAINS", False):
        set_training_environment()  # before a download or the verb imports torch
    if hasattr(module, "check"):
        module.check(args)  # before a download
    from headway.cli.downloads import fetch_models  # not for the help of the command

    fetch_models(args)
    return module.run(args) or 0


if __name__ == "__main__":
    main()
