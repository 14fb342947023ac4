"""A command that this command runs: a process of its own that never outlives this one."""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from headway.cli.signals import LONGEST_WAIT, forward_signals

# The child has the modules of this process, and not those of the directory where it is started.
CODE = """
import sys
sys.path[:], sys.argv[0] = {path!r}, "headway"
from headway.devices import end_with_parent
end_with_parent({parent})
from headway.cli.main import main
main()
"""


def run_child(arguments: Sequence[str], output: IO[bytes] | None = None) -> int:
    """Run ``headway`` with these arguments, and return its exit code as a shell would.

    SIGINT, SIGTERM and SIGHUP are sent on to the child, which saves its work and ends. A child that was about to
    end anyway counts as ended by the signal. On Linux, the child is killed if this process is.

    Args:
        arguments: The verb and its arguments.
        output: Receives the standard output; None: it is that of this process.
    """
    program = CODE.format(path=sys.path, parent=os.getpid())
    started: list[subprocess.Popen[bytes]] = []
    with forward_signals(
        lambda: [child.pid for child in started if child.poll() is None]
    ) as received:
        child = subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            process_group=0,  # Ctrl-C interrupts this process alone, which sends the signal on
        )
        started.append(child)
        if received:  # before the child was there
            child.send_signal(received[0])
        code = None
        while code is None:
            with suppress(subprocess.TimeoutExpired):
                code = child.wait(LONGEST_WAIT)
    if received and not code:  # it came too late to end the command, and ends what would follow
        return 128 + received[0]
    return code if code >= 0 else 128 - code
