"""Whether a person sits before this command, with a screen on which a browser can open."""

import os
import sys


def has_screen() -> bool:
    """Return whether a person has started this command in a terminal on a machine with a screen.

    With ssh there may be a DISPLAY, but a browser would open on the wrong machine, or slowly.
    """
    is_terminal = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    is_remote = any(os.environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY"))
    displays = (os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return is_terminal and not is_remote and (sys.platform == "darwin" or any(displays))
