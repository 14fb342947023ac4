"""Where connections come in: few at a time, and none is made for who is turned away at once."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

from headway.serving.gate import POST, Gate

WAITING = 1024  # connections that the system holds until they are taken
FIRST = 8192  # bytes of a request that are looked at before it has a connection
TURN = 64  # taken at a time: answers and refusals to others go on in between
LET_IN = 8  # of them that get a connection
REST = 0.005  # seconds between two turns when there is no time for anybody
PAUSE = 0.5  # seconds without new connections when there are no descriptors for them


class Door:
    """A listening socket.

    asyncio would take as many connections at a time as the system holds, with a task and a transport
    for each, before it looks at anything else.

    Args:
        sock: Bound.
        make: Makes a connection of `connection_class`.
        gate: Knows whether there is time for one more.
    """

    def __init__(self, sock: socket.socket, make: Callable[[], Any], gate: Gate) -> None:
        self.sock, self.make, self.gate = sock, make, gate
        self.loop = asyncio.get_running_loop()
        self.tasks: set[asyncio.Task[None]] = set()
        self.closed = False

    def open(self) -> None:
        """Begin to take connections.

        Raises:
            NotImplementedError: If this system's event loop cannot watch a socket.
        """
        self.sock.setblocking(False)
        self.loop.add_reader(self.sock, self.accept)
        self.sock.listen(WAITING)

    def accept(self) -> int:
        """Take some of the connections that wait.

        In a crowd only as many are let in as are answered meanwhile; the rest is turned away even if
        there is room by then. Else those that are to be refused would wait behind those let in.

        Returns:
            How many it took.
        """
        crowd = self.gate.crowd()
        let_in = self.gate.pace(REST) if crowd else LET_IN
        taken = 0
        while taken < TURN and (let_in > 0 or crowd):
            try:
                client, _address = self.sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                break
            except OSError:  # out of descriptors or memory: those that are open must end first
                self._rest(PAUSE)
                return taken
            try:
                data = client.recv(FIRST, socket.MSG_DONTWAIT)
            except OSError:  # nothing yet, or it has left
                data = b""
            refused = self.gate.turn_away(data, True, let_in <= 0) if data else None
            taken += 1
            if refused is not None:
                self._answer(client, refused[0])
                continue
            let_in -= 1
            client.setblocking(False)
            self.gate.coming += data.startswith(POST)  # others take no place in the queue
            task = self.loop.create_task(self._let_in(client, data))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        if taken and crowd:
            # To wake up for each would cost more than to refuse it, and the translators their time.
            self._rest(REST)
        return taken

    def _rest(self, seconds: float) -> None:
        if not self.closed:
            self.loop.remove_reader(self.sock)
            self.loop.call_later(seconds, self._go_on)

    def _answer(self, client: socket.socket, answer: bytes) -> None:
        try:
            client.send(answer, socket.MSG_DONTWAIT)  # a new socket has room for it
        except OSError:
            pass  # it has left
        finally:
            client.close()

    async def _let_in(self, client: socket.socket, data: bytes) -> None:
        try:
            transport, protocol = await self.loop.connect_accepted_socket(self.make, client)
        except OSError:
            client.close()
            return
        finally:
            if data.startswith(POST):  # just before the request that begins below is counted as one
                self.loop.call_soon(self._arrived)
        if data and not transport.is_closing():
            protocol.begin(data)
        if self.closed:
            protocol.shutdown()

    def _arrived(self) -> None:
        self.gate.coming -= 1

    def _go_on(self) -> None:
        if not self.closed:
            self.loop.add_reader(self.sock, self.accept)

    def close(self) -> None:
        """Take the connections that are there already, and then no more."""
        self.closed = True
        self.loop.remove_reader(self.sock)
        while self.accept():
            pass
        self.sock.close()

    async def wait_closed(self) -> None:
        """Return when all that were taken have begun."""
        if self.tasks:
            await asyncio.wait(self.tasks)
