"""A connection whose client may not take for ever, nor send without end.

Neither over a header, nor between requests, nor over an answer.
"""

import asyncio
from contextlib import suppress
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from headway.serving.gate import Gate, raw
from headway.serving.refusal import Refusal
from headway.serving.settings import ServerConfig

HEADER_BYTES = 16_384
LINGER = 1.0  # seconds in which a client that still sends may read why nobody listens any more
LINGER_BYTES = 32_000_000
LAST = 0.2  # seconds in which a request that was under way when the server stops still arrives


def connection_class(limits: ServerConfig, gate: Gate) -> type[asyncio.Protocol]:
    """Return the protocol that uvicorn shall speak: its own, with patience and its end.

    uvicorn itself closes a connection only between requests, and only if no byte has come; and its
    parser, llhttp, reads headers of any length.
    """

    class Connection(HttpToolsProtocol):
        def __init__(
            self,
            config: Config,
            server_state: ServerState,
            app_state: dict[str, Any],
            _loop: asyncio.AbstractEventLoop | None = None,
        ) -> None:
            super().__init__(config, server_state, app_state, _loop)
            self.patience: asyncio.TimerHandle | None = None
            self.heading = False  # a header has begun and is not complete
            self.received = 0  # bytes that came meanwhile
            self.ended = False  # a request has, within the bytes at hand
            self.fields = 0  # bytes of a request's header fields
            self.ignored: int | None = None  # bytes that came after the answer to their beginning
            self.stopping = self.admitted = False

        def begin(self, data: bytes) -> None:
            """Receive the first data of a connection that the door has let in."""
            self.admitted = True
            self.data_received(data)

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)  # type: ignore[arg-type]
            if len(self.connections) > limits.connections:
                self.transport.abort()
            else:
                self.wait_at_most(limits.idle_seconds)

        def connection_lost(self, exc: Exception | None) -> None:
            self.stop_waiting()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self.ignored is not None:
                self.ignored += len(data)
                if self.ignored > LINGER_BYTES:
                    self.transport.abort()
                return
            if self.idle() and not self.heading:
                refused = None if self.admitted else gate.turn_away(data)
                self.admitted = False
                if refused is not None:
                    self.refuse(*refused)
                    return
                self.heading, self.received = True, 0
            before, self.ended = self.cycle, False
            super().data_received(data)
            if self.heading:
                # Behind a request's end only what comes next is surely of this header.
                self.received = 0 if self.ended else self.received + len(data)
                if self.received > HEADER_BYTES and not self.transport.is_closing():
                    self.send_400_response("Header too large.")
            if self.cycle is not before and not self.cycle.response_complete:
                # A whole header is there: from here the application's own deadlines count, and these
                # are for a client that does not take its answer.
                self.wait_at_most(2 * limits.idle_seconds + limits.deadline)

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self.heading, self.fields = True, 0

        def on_header(self, name: bytes, value: bytes) -> None:
            # Also of a header that comes in one piece, and of what may follow a body in chunks.
            self.fields += len(name) + len(value) + 4
            if self.fields > HEADER_BYTES:
                raise ValueError(name)  # the parser ends, and the request with it
            super().on_header(name, value)

        def on_headers_complete(self) -> None:
            self.heading = False
            super().on_headers_complete()
            if self.stopping:
                self.cycle.keep_alive = False

        def on_message_complete(self) -> None:
            self.ended = True
            super().on_message_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.transport.is_closing():
                return
            if not self.cycle.response_complete:  # another request was there already
                self.wait_at_most(2 * limits.idle_seconds + limits.deadline)
            elif self.cycle.more_body:
                # To close now would take the answer from a client that is still sending.
                self.ignored = 0
                self.wait_at_most(LINGER)
                with suppress(OSError):  # it has just left
                    self.transport.write_eof()
            else:
                self.wait_at_most(limits.idle_seconds)

        def idle(self) -> bool:
            """Whether nothing is being answered."""
            return self.cycle is None or self.cycle.response_complete

        def send_400_response(self, msg: str) -> None:
            """Say what no parser can read, in JSON as all errors are said."""
            self.refuse(raw(Refusal(400, msg), True), True)

        def refuse(self, answer: bytes, close: bool) -> None:
            self.transport.write(answer)
            if close or self.stopping:
                self.transport.close()
            else:
                self.wait_at_most(limits.idle_seconds)

        def shutdown(self) -> None:
            self.stopping = True
            if self.idle():  # a request may be on its way
                self.wait_at_most(LAST)
            else:
                super().shutdown()

        def wait_at_most(self, seconds: float) -> None:
            self.stop_waiting()
            self.patience = self.loop.call_later(seconds, self.leave)

        def leave(self) -> None:
            if self.transport.get_write_buffer_size():  # it would wait until the client takes it
                self.transport.abort()
            else:
                self.transport.close()

        def stop_waiting(self) -> None:
            if self.patience is not None:
                self.patience.cancel()
                self.patience = None

    return Connection
