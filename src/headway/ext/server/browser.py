"""The page in a browser of this machine, which ``headway serve --open`` starts."""

import logging
import threading
import webbrowser
from contextlib import suppress
from ipaddress import ip_address

log = logging.getLogger("headway.ext.server")


def make_address(host: str, port: int) -> str:
    """Return an address of HTTP.

    Args:
        host: Number of IPv4 or IPv6.
        port: 1 to 65535.
    """
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def open_page(host: str, port: int) -> None:
    """Open the page of a server, without waiting; a browser that does not open gives a warning.

    A command in the variable BROWSER may run until the user closes the browser. A daemon thread waits
    for it, so that it does not keep the process from ending.

    Args:
        host: Number of IPv4 or IPv6 that the server listens at; of one that stands for all addresses, the
            page is opened at the loopback address.
        port: 1 to 65535.
    """
    if ip_address(host).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    address = make_address(host, port)
    threading.Thread(target=_open, args=(address,), name="browser", daemon=True).start()


def _open(address: str) -> None:
    with suppress(Exception):  # anything may be in the variable BROWSER
        if webbrowser.open(address):
            return
    log.warning("no browser has started: open %s yourself", address)
