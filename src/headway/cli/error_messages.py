"""Messages about errors on standard error, one for all ranks of ``torchrun``."""

import os
import sys
import time

PATIENCE = 5.0  # seconds; torchrun ends the other ranks sooner when the first one has failed


def print_error(message: str) -> None:
    """Print the message of an error that ends this process.

    All ranks of ``torchrun`` usually fail with the same error. On each machine, the first rank prints the
    message at once.
    The others wait until torchrun ends them; if it does not, they print their message too.
    """
    if os.environ.get("LOCAL_RANK", "0") != "0":
        time.sleep(PATIENCE)
    print(message, file=sys.stderr)
