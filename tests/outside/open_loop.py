"""Requests at a fixed rate, independent of the answers; one process, without asyncio.

A client in asyncio takes longer over a request than a server over a refusal. This one makes some
ten thousand a second on a core: each has a connection of its own.
"""

import contextlib
import select
import socket
import time
from dataclasses import dataclass


@dataclass(slots=True)
class Reply:
    """What became of a request.

    Attributes:
        number: The request's.
        status: 0: no answer, or none that was whole.
        answer: All bytes.
        due: Seconds after the beginning when it should have been sent.
        late: Seconds after that when it was.
        took: Seconds from its connection to the end of its answer.
        ended: Seconds after the beginning when its answer was there.
    """

    number: int
    status: int
    answer: bytes
    due: float
    late: float
    took: float
    ended: float


def load(port, request, seconds, rate=0.0, at_once=0, patience=30.0):
    """Send requests for some seconds and wait for the answers that are missing.

    Args:
        port: On this machine.
        request: Bytes of the n-th request, which ask to close the connection.
        seconds: In which requests are sent.
        rate: Requests a second; 0: one as soon as fewer than ``at_once`` are under way.
        at_once: See rate.
        patience: Seconds to wait at the end.
    """
    poll = select.epoll()
    under_way: dict[int, tuple[socket.socket, int, float, float, bytes, list[bytes]]] = {}
    replies: list[Reply] = []
    begin = time.perf_counter()
    sent = 0

    def start(due):
        nonlocal sent
        client, data = socket.socket(), request(sent)
        client.setblocking(False)
        now = time.perf_counter()
        with contextlib.suppress(BlockingIOError):
            client.connect(("127.0.0.1", port))
        wanted = select.EPOLLIN
        try:
            client.send(data)
        except OSError:  # the connection is not there yet
            wanted = select.EPOLLOUT
        poll.register(client.fileno(), wanted)
        under_way[client.fileno()] = client, sent, due, now, data, []
        sent += 1

    def read(place, events):
        client, number, due, started, data, answer = under_way[place]
        try:
            if events & select.EPOLLOUT:
                client.send(data)
                poll.modify(place, select.EPOLLIN)
                return
            chunk = client.recv(65536)
            answer.append(chunk)
            if chunk and not complete(b"".join(answer)):
                return
        except BlockingIOError:
            return
        except OSError:
            pass  # reset
        now = time.perf_counter()
        whole = b"".join(answer)
        status = int(whole[9:12]) if complete(whole) else 0
        late = started - begin - due
        replies.append(Reply(number, status, whole, due, late, now - started, now - begin))
        poll.unregister(place)
        client.close()
        del under_way[place]

    while True:
        now = time.perf_counter() - begin
        if now < seconds:
            for _ in range(64):
                if sent >= now * rate if rate else len(under_way) >= at_once:
                    break
                start(sent / rate if rate else now)
        elif not under_way or now > seconds + patience:
            break
        behind = rate and now < seconds and sent < (time.perf_counter() - begin) * rate
        for place, events in poll.poll(0 if behind else 0.001):
            read(place, events)
    for client, number, due, started, _, answer in under_way.values():
        client.close()
        replies.append(
            Reply(number, 0, b"".join(answer), due, started - begin - due, patience, seconds)
        )
    poll.close()
    return replies


def complete(answer):
    """Whether an answer has all the bytes it promised."""
    head, found, body = answer.partition(b"\r\n\r\n")
    if not found:
        return False
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    return len(body) >= int(length or 0)
