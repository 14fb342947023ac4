"""The page in a browser of this machine, which ``headway serve --open`` starts."""

import logging
import threading
import webbrowser
from ipaddress import ip_address
from pathlib import PurePath

log = logging.getLogger("headway.ext.server")
# They would take the terminal from the server, and cannot show a page that needs scripts.
CONSOLE_BROWSERS = {"browsh", "elinks", "links", "links2", "lynx", "w3m", "www-browser"}


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
    try:
        browser = webbrowser.get()
        name = PurePath(getattr(browser, "name", "")).name
        if name in CONSOLE_BROWSERS:
            log.warning("%s needs the terminal: open %s yourself", name, address)
        elif not browser.open(address):
            log.warning("the browser did not start: open %s yourself", address)
    except Exception as error:  # anything may be in the variable BROWSER
        log.warning("no browser (%s): open %s yourself", error, address)
