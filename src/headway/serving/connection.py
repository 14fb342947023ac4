"""A connection whose client may not take for ever: over a header, between requests, over an answer."""

import asyncio
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from headway.serving.settings import ServerConfig

HEADER_BYTES = 16_384


def connection_class(limits: ServerConfig) -> type[asyncio.Protocol]:
    """Return the protocol that uvicorn shall speak: its own, with patience.

    uvicorn itself closes a connection only between requests, and only if no byte has come.
    """

    class Connection(H11Protocol):
        def __init__(
            self,
            config: Config,
            server_state: ServerState,
            app_state: dict[str, Any],
            _loop: asyncio.AbstractEventLoop | None = None,
        ) -> None:
            super().__init__(config, server_state, app_state, _loop)
            self.patience: asyncio.TimerHandle | None = None

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
            before = self.cycle
            super().data_received(data)
            if self.cycle is not before and not self.cycle.response_complete:
                # A whole header is there: from here the application's own deadlines count, and these
                # are for a client that does not take its answer.
                self.wait_at_most(2 * limits.idle_seconds + limits.deadline)

        def on_response_complete(self) -> None:
            before = self.cycle
            super().on_response_complete()
            if self.cycle is before:
                self.wait_at_most(limits.idle_seconds)
            else:  # another request was there already
                self.wait_at_most(2 * limits.idle_seconds + limits.deadline)

        def wait_at_most(self, seconds: float) -> None:
            self.stop_waiting()
            self.patience = self.loop.call_later(seconds, self.transport.abort)

        def stop_waiting(self) -> None:
            if self.patience is not None:
                self.patience.cancel()
                self.patience = None

    return Connection
