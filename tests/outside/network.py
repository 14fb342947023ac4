"""What the system is asked to connect to while Headway trains, translates and serves, by strace.

    apt-get install strace; python tests/outside/network.py

The tests' own watch (test_privacy.py) sees what Python does; this sees native code, too. Prints how many
connections to other machines were tried; the exit code is 1 if there was one, or if nothing was seen at all.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.runs import write_corpus

HEADWAY = [sys.executable, "-m", "headway.cli.main"]
SETTINGS = {
    "text.vocab-size": 331, "model.num-encoder-layers": 1, "model.num-decoder-layers": 1, "model.d-model": 22,
    "model.d-ff": 17, "model.num-heads": 2, "training.batch-tokens": 140, "training.max-steps": 17,
    "training.warmup-steps": 11, "training.validate-every": 5, "training.threads": 1,
}  # fmt: skip
INTERNET = re.compile(r"sa_family=AF_INET6?\b.*")
HERE = re.compile(r'"127\.|"::1"')


def traced(log: Path) -> list[str]:
    """Return the words that start a command under strace."""
    calls = "trace=socket,connect,sendto,sendmsg,sendmmsg"
    return ["strace", "-f", "-qq", "-e", calls, "-o", str(log)]


def elsewhere(log: Path) -> list[str]:
    """Return the calls that name an address which is not this machine's."""
    lines = log.read_text(errors="replace").splitlines()
    return [line for line in lines if INTERNET.search(line) and not HERE.search(line)]


def main() -> int:
    """Trace each command and count."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = write_corpus(folder, train=150, valid=7)
        words = [word for key, value in SETTINGS.items() for word in (f"--{key}", str(value))]
        run = str(folder / "run")
        found = {}
        control = "import socket; socket.create_connection(('192.0.2.1', 9), 0.2)"
        commands = {
            "a control, which must be seen": [sys.executable, "-c", control],
            "train": [*HEADWAY, "train", run, *corpus, "--quiet", *words],
            "translate": [*HEADWAY, "translate", run],
            "picture": [*HEADWAY, "picture", run, "1 2", "--out", str(folder / "a.png")],
        }
        for kind, command in commands.items():
            log = folder / "trace"
            subprocess.run(
                [*traced(log), *command], input=b"1 2 3\n", capture_output=True, check=False
            )
            found[kind] = elsewhere(log)
        assert (folder / "a.png").exists()
        log = folder / "trace"
        serve = [*HEADWAY, "serve", run, "--port", "0"]
        server = subprocess.Popen(
            [*traced(log), *serve], stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        assert server.stderr is not None
        for line in server.stderr:
            if match := re.search(r"listening at (\S+)", line):
                break
        else:
            raise SystemExit("the server did not start")
        fields = {"q": "1 2 3", "source": "auto", "target": "de"}
        request = urllib.request.Request(
            f"{match[1]}/translate",
            json.dumps(fields).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["translatedText"] is not None
        time.sleep(1)
        os.killpg(server.pid, signal.SIGTERM)  # strace itself does not listen
        server.wait(60)
        found["serve"] = elsewhere(log)
    for kind, calls in found.items():
        print(f"{kind:<40} {len(calls)}")
        for call in calls[:3]:
            print(f"  {call[:120]}")
    control_seen = bool(found.pop("a control, which must be seen"))
    return int(any(found.values()) or not control_seen)


if __name__ == "__main__":
    sys.exit(main())
