"""Messages about errors on standard error, one for all ranks of a launcher."""

import os
import sys
import time

PATIENCE = 5.0  # seconds; the launcher ends the other ranks sooner when the first one has failed


def print_error(message: str) -> None:
    """Print the message of an error that ends this process.

    All ranks usually fail with the same error. On each machine, the first rank prints the message at once.
    The others wait until the launcher ends them; if it does not, they print their message too. A rank that
    is ended keeps the exit code of its error.
    """
    if os.environ.get("LOCAL_RANK", "0") != "0":
        try:
            time.sleep(PATIENCE)
        except SystemExit:  # SIGTERM
            return
    print(message, file=sys.stderr)
