"""Messages about errors on standard error, one for all ranks of a launcher."""

import os
import sys
import time

OUT_OF_MEMORY = "out of memory: smaller batches need less, see --training.micro-batch-tokens, --search.batch-tokens"
# Seconds until a rank prints its message. The launcher ends it sooner when another rank has failed.
PATIENCE = 3.0
PATIENCE_IF_LOST = 4.5


def print_error(message: str, *, is_lost_rank: bool = False) -> None:
    """Print the message of an error that ends this process.

    All ranks usually fail with the same error. On each machine, the first rank prints the message at once.
    The others wait until the launcher ends them; if it does not, they print their message too. A rank that
    is ended keeps the exit code of its error.

    Args:
        message: One line.
        is_lost_rank: Whether all that went wrong is that another rank has ended. Its message says more, so
            every rank waits for it.
    """
    patience = PATIENCE if os.environ.get("LOCAL_RANK", "0") != "0" else 0.0
    if is_lost_rank:
        patience = PATIENCE_IF_LOST
    if patience:
        try:
            time.sleep(patience)
        except SystemExit:  # SIGTERM
            return
    print(message, file=sys.stderr)
