"""Connections to other machines, which the kernel probes so that a machine that vanishes is noticed."""

import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROBED_AFTER = 20  # seconds without a message
PROBE_EVERY = 10  # seconds
LIMIT = 60  # seconds without an answer until a connection is given up


def probe_connections() -> None:
    """Let the kernel probe this process's TCP connections to other machines, and give up dead ones.

    A machine without power, or behind a broken cable, does not close its connections. The libraries that
    exchange numbers have no option for this, so it is set on the connections that they have made.
    """
    if sys.platform != "linux":
        return
    for connection in _connections():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (
            (socket.TCP_KEEPIDLE, PROBED_AFTER),
            (socket.TCP_KEEPINTVL, PROBE_EVERY),
            (socket.TCP_USER_TIMEOUT, LIMIT * 1000),
        ):
            connection.setsockopt(socket.IPPROTO_TCP, option, value)


def _connections() -> Iterator[socket.socket]:
    """Yield this process's TCP connections to other machines."""
    for path in list(Path("/proc/self/fd").iterdir()):
        with suppress(OSError):  # closed already, or without a connection
            if not stat.S_ISSOCK(os.fstat(int(path.name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(path.name))) as found:
                is_tcp = (
                    found.family in (socket.AF_INET, socket.AF_INET6)
                    and found.type == socket.SOCK_STREAM
                )
                if is_tcp and found.getsockname()[0] != found.getpeername()[0]:
                    yield found
