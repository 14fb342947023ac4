"""The end of a listening socket: no further connection begins, and those that the system has made are accepted.

A connection that nobody has accepted is lost with its request when the socket is closed. So the system first drops what asks
for new ones, by a packet filter; those clients ask again after a second, and find no server, or the next one.
"""

import asyncio
import ctypes
import socket
import struct
import sys
import time

SO_ATTACH_FILTER = 26  # of Linux
# Steps of the filter, on a segment of TCP: take byte 13, of it the flags ACK and SYN, and drop what has SYN alone.
DROP_NEW_CONNECTIONS = (
    (0x30, 0, 0, 13),
    (0x54, 0, 0, 0x12),
    (0x15, 0, 1, 0x02),
    (0x06, 0, 0, 0),
    (0x06, 0, 0, 0xFFFF_FFFF),
)
MOST_SECONDS_TO_ACCEPT = 1.0
SECONDS_TO_SEND = 0.2  # a request, on a connection that was made


async def drain(listener: socket.socket) -> None:
    """Let no further connection begin, and wait until those that were made are accepted and have sent their requests.

    Where the system has no such filter, nothing happens: not on Linux, or in a sandbox that emulates its kernel.
    """
    if sys.platform != "linux":
        return
    code = b"".join(struct.pack("HBBI", *step) for step in DROP_NEW_CONNECTIONS)
    steps = ctypes.create_string_buffer(code)
    program = struct.pack("HP", len(DROP_NEW_CONNECTIONS), ctypes.addressof(steps))
    try:
        listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
        end = time.monotonic() + MOST_SECONDS_TO_ACCEPT
        while _count_waiting(listener) and time.monotonic() < end:
            await asyncio.sleep(0.01)
    except OSError:
        return
    await asyncio.sleep(SECONDS_TO_SEND)


def _count_waiting(listener: socket.socket) -> int:
    """Return how many connections the system holds that are not accepted yet."""
    found = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 28)
    return int.from_bytes(found[24:], sys.byteorder)  # "unacked", of a socket that listens
