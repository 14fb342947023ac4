"""Start processes and watch them until they have ended: the ranks of a training on this machine, or another command."""

import multiprocessing
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from headway.cli.error_messages import report_errors
from headway.cli.signals import LONGEST_WAIT, forced_end, remember_signals
from headway.errors import HeadwayError


class RankKilled(HeadwayError):
    """A rank was ended by a signal that the user did not send."""


def is_launched() -> bool:
    """Whether a launcher (this module, ``torchrun`` or Slurm) has started this process as a rank."""
    return "WORLD_SIZE" in os.environ


def launch(function: Callable[..., int], arguments: tuple[Any, ...], ranks: int) -> int:
    """Call a function in new processes, the ranks, which report their errors; return the exit code.

    Args:
        function: Joins the other ranks (`headway.training.parallel`) and returns an exit code.
        arguments: Of the function; they are pickled.
        ranks: How many.

    Raises:
        RankKilled: If a signal has killed a rank; the others are killed too.
    """
    with tempfile.TemporaryDirectory(prefix="headway-ranks-") as directory:
        meeting = (Path(directory) / "ranks").resolve().as_uri()
        code = _run_together(
            _be_rank, [(rank, ranks, meeting, function, arguments) for rank in range(ranks)]
        )
    if code < 0:
        raise RankKilled(f"a rank of this training was ended by {signal.Signals(-code).name}")
    return code


def run_child(arguments: Sequence[str], output: Path | None = None) -> int:
    """Run ``headway`` with these arguments in a process of its own, and return its exit code as a shell would.

    Args:
        arguments: The verb and its arguments.
        output: The file for its standard output; None: it is that of this process.
    """
    code = _run_together(_be_command, [(list(arguments), output)])
    return code if code >= 0 else 128 - code


def _run_together(function: Callable[..., int], arguments: Sequence[tuple[Any, ...]]) -> int:
    """Call a function in several new processes, and wait for them; the first one that fails ends the others.

    SIGINT, SIGTERM and SIGHUP are sent on to the processes, which save their work and end. Processes that were about to
    end anyway count as ended by the signal. On Linux, they are killed if this process is.

    Args:
        function: Returns an exit code.
        arguments: Of each process.

    Returns:
        The exit code of the first process that failed, negative if a signal killed it; or else the largest exit code.
    """
    context = multiprocessing.get_context("spawn")
    started: list[BaseProcess] = []

    def list_running() -> list[BaseProcess]:
        return [process for process in started if process.exitcode is None]

    def list_numbers() -> list[int]:
        return [process.pid for process in list_running() if process.pid]

    failed = 0
    with forced_end(limit=None), remember_signals(forward_to=list_numbers) as received:
        try:
            for each in arguments:
                new = context.Process(target=_enter, args=(os.getpid(), function, each))
                new.start()
                started.append(new)
                if received and new.pid:  # before it was there
                    os.kill(new.pid, received[0])
            while not failed and (running := list_running()):
                wait([process.sentinel for process in running], LONGEST_WAIT)
                codes = [process.exitcode or 0 for process in started]
                # Processes that a signal has reached save their work together, and return 128 and more.
                failed = next((code for code in codes if code and code < 128 and not received), 0)
        finally:
            for process in started:
                process.kill()  # does nothing to those that have ended
                process.join()
    codes = [process.exitcode or 0 for process in started]
    largest = max(code if code >= 0 else 128 - code for code in codes)
    # A signal that came too late to end the work ends what would follow.
    return failed or largest or (128 + received[0] if received else 0)


def _enter(parent: int, function: Callable[..., int], arguments: tuple[Any, ...]) -> None:
    """Be one of the processes."""
    from headway.devices import end_with_parent

    os.setpgid(0, 0)  # Ctrl-C interrupts the parent alone, which sends the signal on
    end_with_parent(parent)
    sys.exit(function(*arguments))


def _be_rank(
    rank: int, ranks: int, meeting: str, function: Callable[..., int], arguments: tuple[Any, ...]
) -> int:
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
    os.environ |= {"WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks)}
    os.environ["HEADWAY_RENDEZVOUS"] = meeting
    loopback = [name for _, name in socket.if_nameindex() if name.startswith("lo")]
    if loopback:  # nothing is sent over the network
        os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback[0])
    return report_errors(lambda: function(*arguments))


def _be_command(arguments: list[str], output: Path | None) -> int:
    from headway.cli.main import main

    if output is not None:
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), 1)
    main(arguments)
