"""What the system is asked to connect to while Headway trains, translates and serves, by strace.

    apt-get install strace; python tests/outside/network.py

The tests' own watch (test_privacy.py) sees what Python does; this sees native code, too. Prints how many
connections to other machines were tried; there must be none, and a control must be seen.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.campaign import Campaign
from support.processes import children
from support.runs import SETTINGS, words, write_corpus
from support.server import Running

HEADWAY = [sys.executable, "-m", "headway.cli.main"]
CONTROL = "a control, which must be seen"
INTERNET = re.compile(r"sa_family=AF_INET6?\b.*")
HERE = re.compile(r'"127\.|"::1"')


def traced(log):
    """Return the words that start a command under strace."""
    calls = "trace=socket,connect,sendto,sendmsg,sendmmsg"
    return ["strace", "-f", "-qq", "-e", calls, "-o", str(log)]


def elsewhere(log):
    """Return the calls that name an address which is not this machine's."""
    lines = log.read_text(errors="replace").splitlines()
    return [line for line in lines if INTERNET.search(line) and not HERE.search(line)]


class Connections(Campaign):
    """What commands are traced to connect to."""

    def work(self):
        """Trace each command and count."""
        corpus, run = write_corpus(self.folder, train=150, valid=7), str(self.folder / "run")
        log, picture = self.folder / "trace", self.folder / "a.png"
        control = "import socket; socket.create_connection(('192.0.2.1', 9), 0.2)"
        commands = {
            CONTROL: [sys.executable, "-c", control],
            "train": [*HEADWAY, "train", run, *corpus, "--quiet", *words(SETTINGS)],
            "translate": [*HEADWAY, "translate", run],
            "picture": [*HEADWAY, "picture", run, "1 2", "--out", str(picture)],
        }
        for kind, command in commands.items():
            subprocess.run([*traced(log), *command], input=b"1 2 3\n", capture_output=True, check=False)  # fmt: skip
            self.judge(kind, elsewhere(log))
        assert picture.exists()
        server = Running(self.folder / "log", run, launcher=traced(log))
        status, answer = server.post("/translate", q="1 2 3", source="auto")
        assert status == 200, answer
        time.sleep(1)
        os.kill(children(server.process.pid)[0], signal.SIGTERM)  # strace itself does not listen
        server.process.wait(60)
        self.judge("serve", elsewhere(log))

    def judge(self, kind, calls):
        """Count the calls of a command."""
        self.counts[kind] += len(calls)
        self.expect(
            bool(calls) == (kind == CONTROL), f"{kind}: {[call[:120] for call in calls[:3]]}"
        )


if __name__ == "__main__":
    Connections.run(__doc__, {})
