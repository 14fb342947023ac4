"""``headway serve --open``: the address that is opened, and browsers that wait, fail or need the terminal."""

import logging
import queue
import threading
import webbrowser

from headway.ext.server.browser import open_page

ADDRESS = "http://127.0.0.1:5000"


class Browser:
    """A browser that reports what it opens, and returns when it may."""

    def __init__(self, name="firefox", opens=True):
        self.name, self.opens = name, opens
        self.opened = queue.Queue()
        self.may_end = threading.Event()

    def open(self, address):
        self.opened.put(address)
        self.may_end.wait(30)
        return self.opens


def find_threads():
    return [thread for thread in threading.enumerate() if thread.name == "browser"]


def list_warnings(caplog, monkeypatch):
    """Open the page, wait for the end of the thread, and return the warnings."""
    # The command's handler may be the only one since another test.
    monkeypatch.setattr(logging.getLogger("headway.ext.server"), "propagate", True)
    open_page("127.0.0.1", 5000)
    for thread in find_threads():
        thread.join(30)
    return caplog.messages


def test_the_page_is_opened_at_an_address_that_a_browser_reaches(monkeypatch):
    for host, address in (
        ("127.0.0.1", ADDRESS),
        ("0.0.0.0", ADDRESS),
        ("192.0.2.7", "http://192.0.2.7:5000"),
        ("::", "http://[::1]:5000"),
        ("fe80::1%eth0", "http://[fe80::1%eth0]:5000"),
    ):
        browser = Browser()
        monkeypatch.setattr(webbrowser, "get", lambda found=browser: found)
        open_page(host, 5000)
        assert browser.opened.get(timeout=30) == address
        waiting = find_threads()
        assert waiting
        assert all(thread.daemon for thread in waiting)  # they do not keep the process
        browser.may_end.set()
        for thread in waiting:
            thread.join(30)


def test_browsers_of_the_console_are_not_started(monkeypatch, caplog):
    for name in ("w3m", "/usr/bin/lynx", "www-browser"):
        browser = Browser(name)
        monkeypatch.setattr(webbrowser, "get", lambda found=browser: found)
        warning = list_warnings(caplog, monkeypatch)[-1]
        assert browser.opened.empty()
        assert warning.endswith(f"needs the terminal: open {ADDRESS} yourself")


def test_a_browser_that_does_not_start_gives_a_warning(monkeypatch, caplog):
    browser = Browser(opens=False)
    browser.may_end.set()
    monkeypatch.setattr(webbrowser, "get", lambda: browser)
    assert ADDRESS in list_warnings(caplog, monkeypatch)[0]

    def fail():
        raise webbrowser.Error("nothing found")

    monkeypatch.setattr(webbrowser, "get", fail)
    assert f"no browser (nothing found): open {ADDRESS} yourself" in list_warnings(
        caplog, monkeypatch
    )
