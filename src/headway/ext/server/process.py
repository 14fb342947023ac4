"""The server as a process: its address, its signals and its end.

Granian speaks HTTP: its parser, timeouts and limits run in native threads, beside the interpreter.
It is embedded, so that the models, the queue and the event loop are in this process.
"""

import asyncio
import ctypes
import errno
import gc
import logging
import signal
import socket
import sys
import time
from collections.abc import Sequence

from granian._granian import SocketHolder
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server as HTTPServer
from granian.utils.proxies import wrap_asgi_with_proxy_headers
from starlette.types import ASGIApp

from headway.errors import HeadwayError
from headway.ext.server.admission import STOPPING_SECONDS
from headway.ext.server.app import App
from headway.ext.server.browser import make_address, open_page
from headway.ext.server.draining import drain
from headway.ext.server.rejection import find_place
from headway.ext.server.reload import Reloader, freeze_garbage
from headway.ext.server.server import Server
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.text_threads import Interrupted

log = logging.getLogger("headway.ext.server")
HEADER_BYTES = 16_384
BACKLOG = 1024  # connections that the system holds until they are accepted
SPARE_FILES = 256  # open files other than connections
SECONDS_BETWEEN_COLLECTIONS, MOST_SECONDS = 10, 300  # when nobody waits for an answer, and always
SWITCH_INTERVAL = 0.0001  # seconds after which a translating thread lets the event loop run


def configure_server_process(config: ServerConfig) -> None:
    """Set what belongs to the whole process; only the command calls this.

    Garbage is collected at set times: Python would do it every few hundred requests, and with
    hundreds of requests waiting it takes 50 ms, in which nobody gets an answer.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.set_threshold(1_000, 10, 1_000_000)
    _raise_open_files(config.connections + SPARE_FILES)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.setLevel(logging.INFO)
    log.handlers = [handler]
    log.propagate = False
    # It has a line for each damaged part of a form. Granian's set-up of logging would undo `disabled`.
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    sys.unraisablehook = _report_unraisable


def _report_unraisable(ignored: "sys.UnraisableHookArgs") -> None:
    """Log the type and the place of an exception that Python ignores, such as one in a destructor; its message may hold a text."""
    error = ignored.exc_value
    if error is not None and not isinstance(error, Interrupted):  # which comes anywhere
        log.error("ignored %s at %s", type(error).__name__, find_place(error))


def _raise_open_files(wanted: int) -> None:
    """Raise the process's limit of open files, as far as the system allows."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))


def reserve_address(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address, so that no other server takes it; it does not listen yet.

    Args:
        host: Name or address.
        port: 0: any free port.

    Raises:
        HeadwayError: If the address is in use, or not one of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reserved = socket.socket(family, socket.SOCK_STREAM)
    try:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind((host, port))
    except OSError as error:
        reserved.close()
        advice = f": give another, such as --port {port + 1}" * (error.errno == errno.EADDRINUSE)
        raise HeadwayError(
            f"--host {host} --port {port}: {error.strerror or error}{advice}"
        ) from None
    return reserved


async def run_server(
    server: Server,
    reserved: socket.socket,
    reloader: Reloader,
    early: Sequence[int] = (),
    *,
    opens_page: bool = False,
) -> signal.Signals:
    """Answer requests until SIGTERM or SIGINT; requests that were accepted by then are answered, some of them with 503.

    Args:
        server: The parts of the server.
        reserved: From `reserve_address`.
        reloader: Reads models and keys again on SIGHUP.
        early: Each SIGHUP that has come before this function handles it.
        opens_page: Whether to open the page in a browser of this machine.

    Returns:
        The signal.
    """
    loop, config = asyncio.get_running_loop(), server.config
    stopping: asyncio.Future[signal.Signals] = loop.create_future()
    tasks: list[asyncio.Task[None]] = []

    def stop(caught: signal.Signals) -> None:
        if not stopping.done():
            stopping.set_result(caught)

    def reload() -> None:
        tasks.append(loop.create_task(reloader.reload()))

    for caught in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(caught, stop, caught)
    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, reload)
    if early:
        reload()
    host, port = reserved.getsockname()[:2]
    http = _make_http_server(App(server), reserved, config)
    serving = loop.create_task(http.serve())
    try:
        reserved.listen(BACKLOG)
        freeze_garbage()
        tasks.append(loop.create_task(_look_after(server)))
        if config.watch_seconds:
            tasks.append(loop.create_task(reloader.watch(config.watch_seconds)))
        log.info("listening at %s", make_address(host, port))
        if opens_page:
            open_page(host, port)
        await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
            raise HeadwayError("the HTTP server has ended by itself")
        server.admission.stop()
        await drain(reserved)
        http.stop()  # type: ignore[no-untyped-call]
        # A client that does not take its answer must not keep the process from ending.
        await asyncio.wait((serving,), timeout=STOPPING_SECONDS)
        return stopping.result()
    finally:
        for task in (*tasks, serving):
            task.cancel()
        await asyncio.gather(*tasks, serving, return_exceptions=True)


class _HTTPServer(HTTPServer):
    """Granian on a socket of ours, which is needed at the end; see `headway.ext.server.draining`."""

    listener: socket.socket

    def _init_shared_socket(self) -> None:
        holder = SocketHolder(self.listener.fileno(), False, BACKLOG)  # type: ignore[call-arg]
        vars(self).update(_ssp=None, _shd=holder)


def _make_http_server(app: ASGIApp, listener: socket.socket, config: ServerConfig) -> HTTPServer:
    if config.trusted_proxies:
        trusted = [address.strip() for address in config.trusted_proxies.split(",")]
        app = wrap_asgi_with_proxy_headers(app, trusted_hosts=trusted)
    server = _HTTPServer(
        app,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        websockets=False,
        backpressure=config.connections,
        http1_settings=HTTP1Settings(
            header_read_timeout=int(1000 * config.idle_seconds), max_buffer_size=HEADER_BYTES
        ),
        log_enabled=False,
    )
    server.listener = listener
    return server


async def _look_after(server: Server) -> None:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    collected = time.monotonic()
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_COLLECTIONS)
        # Under load, collecting garbage takes up to a second, in which no request is answered.
        if not server.admission.pending or time.monotonic() - collected > MOST_SECONDS:
            gc.collect()
            collected = time.monotonic()
            if trim is not None:  # what a large request has needed is given back to the system
                await asyncio.to_thread(trim, 0)
        await asyncio.to_thread(server.usage.save)
