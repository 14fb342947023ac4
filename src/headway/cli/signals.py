"""The signals that stop a training."""

import os
import signal
from collections.abc import Callable
from types import FrameType

Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None


class Signals:
    """Remembers the first SIGINT, SIGTERM or SIGHUP; a second SIGINT or SIGTERM ends the process.

    Attributes:
        received: The number of the first signal; 0: none yet.
    """

    def __init__(self) -> None:
        self.received = 0
        self._before: dict[int, Handler] = {}

    def __enter__(self) -> "Signals":
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._before[number] = signal.signal(number, self._receive)
        if self._before[signal.SIGHUP] == signal.SIG_IGN:  # nohup started this process
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, _: FrameType | None) -> None:
        # A terminal that is closed sends several SIGHUPs: its own, the shell's and the system's.
        if self.received and number != signal.SIGHUP:
            os._exit(128 + number)  # no cleanup is needed: a run survives kill -9
        self.received = self.received or number
