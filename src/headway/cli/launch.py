"""Start the ranks of a training on this machine, one process each, and watch them."""

import math
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.cli.error_messages import OUT_OF_MEMORY
from headway.cli.signals import LONGEST_WAIT, forward_signals
from headway.errors import HeadwayError, LostRankError, UsageError, is_out_of_memory

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

GRACE = 10.0  # seconds until a rank must have noticed that another one ended with an error


class RankKilled(HeadwayError):
    """A rank was ended by a signal that the user did not send."""


@dataclass(frozen=True)
class Ending:
    """How a rank has ended: its exit code, and the error to be printed, if there is one."""

    code: int
    error: HeadwayError | None = None


def is_launched() -> bool:
    """Whether a launcher (this module, ``torchrun`` or Slurm) has started this process as a rank."""
    return "WORLD_SIZE" in os.environ


def launch(function: Callable[..., int], arguments: tuple[Any, ...], ranks: int) -> int:
    """Call a function in new processes, the ranks, and return the largest of their exit codes.

    SIGINT, SIGTERM and SIGHUP are sent on to the ranks. On Linux, they are killed if this process is.

    Args:
        function: Joins the other ranks (`headway.training.parallel`) and returns an exit code.
        arguments: Of the function; they are pickled.
        ranks: How many.

    Raises:
        HeadwayError: The error of a rank that ended with one.
        RankKilled: If a signal has killed a rank; the others are killed too.
    """
    with tempfile.TemporaryDirectory(prefix="headway-ranks-") as directory:
        context = multiprocessing.get_context("spawn")
        endings = [context.SimpleQueue() for _ in range(ranks)]
        started: list[BaseProcess] = []
        for rank, queue in enumerate(endings):
            place = rank, ranks, os.getpid(), directory
            started.append(
                context.Process(target=_run_rank, args=(place, function, arguments, queue))
            )
            started[-1].start()
        with forward_signals(lambda: _running(started)) as received:
            return _watch(started, endings, received)


def _running(ranks: list[BaseProcess]) -> list[int]:
    return [rank.pid for rank in ranks if rank.exitcode is None and rank.pid]


def _watch(
    ranks: list[BaseProcess], endings: "list[SimpleQueue[Ending]]", received: list[int]
) -> int:
    """Wait until all ranks have ended, and return the largest of their exit codes."""
    deadline = math.inf
    try:
        while running := [rank for rank in ranks if rank.exitcode is None]:
            if time.monotonic() >= deadline:
                break
            wait([rank.sentinel for rank in running], LONGEST_WAIT)
            for number, rank in enumerate(ranks):
                if rank.exitcode and not received:
                    if rank.exitcode < 0:
                        name = signal.Signals(-rank.exitcode).name
                        raise RankKilled(f"rank {number} of this training was ended by {name}")
                    deadline = min(deadline, time.monotonic() + GRACE)
    finally:
        for rank in ranks:
            rank.kill()  # does nothing to those that have ended
            rank.join()
    found = [
        Ending(_exit_code(rank)) if queue.empty() else queue.get()
        for rank, queue in zip(ranks, endings, strict=True)
    ]
    errors = [ending.error for ending in found if ending.error is not None]
    # A rank that lost another one does not know why; the other one does.
    for error in sorted(errors, key=lambda error: isinstance(error, LostRankError)):
        raise error
    return max(ending.code for ending in found)


def _exit_code(rank: BaseProcess) -> int:
    """Return the exit code of a process as a shell would."""
    code = rank.exitcode or 0
    return code if code >= 0 else 128 - code


def _run_rank(
    place: tuple[int, int, int, str],
    function: Callable[..., int],
    arguments: tuple[Any, ...],
    queue: "SimpleQueue[Ending]",
) -> None:
    """Be a rank: the process that `launch` starts."""
    from headway.devices import end_with_parent

    rank, ranks, parent, directory = place
    os.setpgid(0, 0)  # Ctrl-C interrupts the parent alone, which sends the signal on
    end_with_parent(parent)
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
    os.environ |= {"WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks)}
    os.environ["HEADWAY_RENDEZVOUS"] = (Path(directory) / "ranks").resolve().as_uri()
    loopback = [name for _, name in socket.if_nameindex() if name.startswith("lo")]
    if loopback:  # nothing is sent over the network
        os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback[0])
    try:
        ending = Ending(function(*arguments))
    except HeadwayError as error:
        ending = Ending(2 if isinstance(error, UsageError) else 1, error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        ending = Ending(1, HeadwayError(f"{where}{error.strerror or error}"))
    except KeyboardInterrupt:
        ending = Ending(128 + signal.SIGINT)
    except SystemExit as error:
        ending = Ending(error.code if isinstance(error.code, int) else 1)
    except Exception as error:
        if is_out_of_memory(error):
            ending = Ending(1, HeadwayError(OUT_OF_MEMORY))
        else:
            traceback.print_exc()
            ending = Ending(1)
    queue.put(ending)
    sys.exit(ending.code)
