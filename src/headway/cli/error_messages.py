"""Errors become messages of one line on standard error, one for all ranks of a launcher, and exit codes."""

import os
import signal
import sys
import time
from collections.abc import Callable

from headway.cli.standard_output import NAME, discard_output
from headway.errors import (
    HeadwayError,
    LostRankError,
    UsageError,
    explain_missing,
    is_out_of_memory,
)

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
    try:
        time.sleep(patience)
    except SystemExit:  # SIGTERM
        return
    print(message, file=sys.stderr)


def report_errors(work: Callable[[], int]) -> int:
    """Do the work of a command or a rank, report its error, and return its exit code."""
    try:
        code = work()
        sys.stdout.flush()
        return code
    except HeadwayError as error:
        message = "\n".join(f"headway: {line}" for line in str(error).splitlines())
        print_error(message, is_lost_rank=isinstance(error, LostRankError))
        return 2 if isinstance(error, UsageError) else 1
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("headway"):
            raise
        print_error(f"headway: this {explain_missing(error.name)}")
    except BrokenPipeError:
        # The reader of our output has ended, as `head` does: this is no error.
        discard_output()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        if error.filename == NAME:
            discard_output()
        print_error(f"headway: {where}{error.strerror or error}")
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        print_error(f"headway: {OUT_OF_MEMORY}")
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 1
