"""The server as a process: its socket, signals, reloads and end."""

import asyncio
import gc
import logging
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from headway.errors import HeadwayError
from headway.serving.app import Server, make_app
from headway.serving.models import load_models, stamp

log = logging.getLogger("headway.serving")
TIDY = 10  # seconds between two looks for garbage
NEIGHBOURS = 256  # descriptors for other things than connections


class Reloader:
    """Reads models and keys again when told to, models also when their files have changed; never half.

    Args:
        server: Whose models are replaced.
        paths: As `load_models` takes them.
        pivot: The same.
        device: The same.
        overrides: The same.
    """

    def __init__(
        self,
        server: Server,
        paths: Sequence[str],
        pivot: str,
        device: str,
        overrides: Mapping[str, str],
    ) -> None:
        self.server, self.paths = server, list(paths)
        self.pivot, self.device, self.overrides = pivot, device, overrides
        self.seen = stamp(self.paths)
        self._busy = asyncio.Lock()

    def reread_keys(self) -> None:
        """Read the keys again; those that cannot be read leave the old ones."""
        if self.server.keys is None:
            return
        try:
            self.server.keys.read()
        except (HeadwayError, OSError) as error:
            log.error("the keys stay as they are: %s", error)
        else:
            log.info("keys read again")

    async def reload(self) -> bool:
        """Replace the models; requests under way end with the old ones, which stay if this fails."""
        async with self._busy:
            seen = stamp(self.paths)
            try:
                models = await asyncio.to_thread(
                    load_models, self.paths, self.pivot, self.device, self.overrides
                )
            except Exception as error:  # torch has its own for memory that is not there
                kind = "" if isinstance(error, HeadwayError) else f"{type(error).__name__}: "
                log.error("the models stay as they are: %s%s", kind, error)
                outcome = "failed"
            else:
                self.server.models = models
                gc.unfreeze()  # else what refers to itself in the old ones would stay
                later = self.server.limits.deadline + 1  # when nobody uses them any more
                asyncio.get_running_loop().call_later(later, settle)
                log.info("models read again")
                outcome = "done"
            # What failed is tried again when it changes again.
            self.seen = seen
            self.server.metrics.count("headway_reloads_total", 1, (("outcome", outcome),))
            return outcome == "done"

    async def watch(self, seconds: float) -> None:
        """Look every so often whether files have changed; reload once they rest."""
        last = self.seen
        while True:
            await asyncio.sleep(seconds)
            now = stamp(self.paths)
            if now != self.seen and now == last:
                await self.reload()
            last = now


def serve(server: Server, sock: socket.socket, reloader: Reloader) -> None:
    """Answer requests until a signal ends it; those accepted by then are answered.

    Args:
        server: What answers.
        sock: From `listener`.
        reloader: Called on SIGHUP.
    """
    asyncio.run(_serve(server, sock, reloader))


async def _serve(server: Server, sock: socket.socket, reloader: Reloader) -> None:
    import uvicorn

    from headway.serving.connection import connection_class
    from headway.serving.door import Door

    limits = server.limits
    raise_open_files(limits.connections + NEIGHBOURS)
    # Each system call lets go of the interpreter; to get it back from a search must not take longer.
    sys.setswitchinterval(0.0001)
    gate = make_app(server)
    config = uvicorn.Config(
        gate,
        http=connection_class(limits, gate),
        ws="none",
        log_config=None,
        access_log=False,  # it would show query strings, and texts in them
        server_header=False,
        proxy_headers=bool(limits.trusted_proxies),
        forwarded_allow_ips=limits.trusted_proxies or None,
        timeout_keep_alive=max(1, int(limits.idle_seconds)),
        timeout_graceful_shutdown=int(limits.deadline + 2 * limits.idle_seconds) + 1,
    )

    class Announcing(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            door = Door(sock, self.connection, gate)
            try:
                door.open()
            except NotImplementedError:  # on Windows asyncio must do it
                await super().startup(sockets)
            else:
                await super().startup([])
                self.servers.append(door)  # type: ignore[arg-type]
            settle()
            address = sock.getsockname()
            host = f"[{address[0]}]" if ":" in address[0] else address[0]
            log.info("listening at http://%s:%d", host, address[1])

        def connection(self) -> Any:
            return config.http_protocol_class(  # type: ignore[call-arg]
                config=config, server_state=self.server_state, app_state=self.lifespan.state
            )

    running = Announcing(config)
    server.metrics.gauges["headway_connections"] = lambda: len(running.server_state.connections)
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[object]] = {loop.create_task(tidy())}

    def begin_reload() -> None:
        reloader.reread_keys()
        task: asyncio.Task[object] = loop.create_task(reloader.reload())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, begin_reload)
    if limits.watch_seconds:
        tasks.add(loop.create_task(reloader.watch(limits.watch_seconds)))
    try:
        await running.serve([sock])
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def settle() -> None:
    """Let the garbage collector pass over all that is there now, torch above all.

    To look through it takes a third of a second, in which nobody is answered.
    """
    gc.collect()
    gc.freeze()


async def tidy() -> None:
    """Look for garbage that refers to itself at set times; Python would every few hundred requests.

    With hundreds of requests waiting it takes 50 ms, in which nobody is answered.
    """
    gc.set_threshold(1_000, 10, 1_000_000)
    while True:
        await asyncio.sleep(TIDY)
        gc.collect()


def listener(host: str, port: int) -> socket.socket:
    """Return a socket bound to an address; it takes connections once the server starts.

    Args:
        host: Address.
        port: 0: any that is free.

    Raises:
        HeadwayError: If the address is not ours, or in use.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol's number asyncio knows that small packets must not wait for each other (40 ms).
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise HeadwayError(f"--host {host} --port {port}: {error.strerror or error}") from None
    return found


def raise_open_files(wanted: int) -> None:
    """Let this process hold so many descriptors, as far as the system allows."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))


def start_logging() -> None:
    """Write log lines to standard error, each with its time."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name, level in (("headway.serving", logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.handlers = [handler]
        logger.propagate = False
