"""The signals that stop a command."""

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

STOPS = (signal.SIGINT, signal.SIGTERM)
# Seconds in which a second signal is taken for the first: systemd and Slurm signal all processes of a job,
# and a launcher sends its own signal on to its ranks.
TOGETHER = 0.3
# Seconds for which a process waits for others before it looks for signals. Python calls handlers in the main thread,
# which a signal does not wake if another thread has received it, as happens to a process that was stopped (SIGSTOP).
LONGEST_WAIT = 1.0


@contextmanager
def forced_end(limit: float | None) -> Iterator[None]:
    """End the process at a second SIGINT or SIGTERM, and if the first one has not ended it in time.

    Signals that arrive together count as one.

    Python calls the handlers of signals between two operations of its main thread, so never during a long
    call of native code. Here a thread reads the signals as they arrive. No cleanup is needed, because
    everything that Headway writes survives kill -9.

    Args:
        limit: Seconds from the first signal to the end; None: as long as the command needs.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading, limit), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)  # this ends the thread


def _watch(reading: int, limit: float | None) -> None:
    first, since = 0, 0.0
    while select.select([reading], [], [], limit if first else None)[0]:
        number = os.read(reading, 1)
        if not number:
            os.close(reading)
            return
        if number[0] in STOPS:
            now = time.monotonic()
            if first and now - since > TOGETHER:
                os._exit(128 + number[0])
            if not first:
                first, since = number[0], now
    os._exit(128 + first)


@contextmanager
def remember_signals(
    *numbers: signal.Signals, forward_to: Callable[[], Iterable[int]] = tuple
) -> Iterator[list[int]]:
    """Do nothing at signals but add their numbers to a list, and send them on; those that are ignored stay ignored.

    To wait for other processes, wait for `LONGEST_WAIT` again and again: a signal that comes during one wait may be sent on
    only after it.

    Args:
        numbers: The signals; none: SIGINT, SIGTERM and SIGHUP.
        forward_to: Returns the numbers of the processes that get them, too.
    """
    received: list[int] = []

    def receive(number: int, _: FrameType | None) -> None:
        received.append(number)
        for process in forward_to():
            with suppress(ProcessLookupError):
                os.kill(process, number)

    before = {number: signal.getsignal(number) for number in numbers or (*STOPS, signal.SIGHUP)}
    try:
        for number, handler in before.items():
            if handler != signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, receive)
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
