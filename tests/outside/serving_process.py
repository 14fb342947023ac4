"""A server under test, a client that sends one request, and the figures of a campaign."""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from open_loop import complete

WORDS = [
    "a",
    "man",
    "woman",
    "dog",
    "two",
    "children",
    "in",
    "red",
    "shirt",
    "rides",
    "plays",
    "sits",
    "on",
    "the",
    "street",
    "bike",
    "with",
    "ball",
]
HEAD = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n"
JSON = b"application/json"


class Server:
    """``headway serve`` in a process of its own.

    Attributes:
        port: Where the campaign sends its requests; a proxy's, if there is one.
        own_port: The server's own port.
    """

    def __init__(
        self, model: str, *arguments: str, cores: set[int] | None = None, port: int = 0
    ) -> None:
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log", delete=False)  # noqa: SIM115
        command = [sys.executable, "-m", "headway.cli.main", "serve", model, "--port", str(port)]
        ours = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores or ours)
        self.process = subprocess.Popen([*command, *arguments], stderr=self.log)
        os.sched_setaffinity(0, ours)
        config = json.loads((Path(model) / "config.json").read_text(encoding="utf-8"))
        self.source, self.target = config["languages"]
        deadline = time.monotonic() + 120
        while not (found := re.findall(r"listening at \S+:(\d+)", self.text())):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(self.text())
            time.sleep(0.05)
        self.port = self.own_port = int(found[0])

    def text(self) -> str:
        return Path(self.log.name).read_text(encoding="utf-8")

    def metrics(self) -> dict[str, float]:
        url = f"http://127.0.0.1:{self.own_port}/metrics"
        with urllib.request.urlopen(url, timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        pairs = (line.rpartition(" ")[::2] for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def seconds(self) -> float:
        """Return the processor seconds that the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def body(self, text: str | list[str], **more: str) -> bytes:
        fields = {"q": text, "source": self.source, "target": self.target, **more}
        return json.dumps(fields).encode()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)


async def ask(port: int, body: bytes, path: bytes = b"/translate") -> tuple[int, bytes, float]:
    """Send one request on a connection of its own.

    Returns:
        The status, the answer and its seconds. Status 0: no whole answer; -1: no connection.
    """
    started = time.perf_counter()
    status, answer = -1, b""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = HEAD % (path, JSON) + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        status = 0
        writer.write(head + body)
        answer = await reader.read()
        writer.close()
        status = int(answer[9:12]) if complete(answer) else 0
    except (OSError, ValueError):
        pass
    return status, answer, time.perf_counter() - started


async def require_answer(port: int, body: bytes, path: bytes = b"/translate") -> bytes:
    """Send one request that has to succeed, and return its answer.

    Raises:
        SystemExit: If the status is not 200: the campaign would measure nothing.
    """
    status, answer, _ = await ask(port, body, path)
    if status != 200:
        raise SystemExit(f"{path.decode()}: status {status}, not 200: {answer[:200]!r}")
    return answer


def sentence(chooser: random.Random) -> str:
    return " ".join(chooser.choices(WORDS, k=chooser.randrange(4, 14)))


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


class Figures:
    """The figures of one campaign."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, str]] = []

    def add(self, name: str, value: float, holds: bool | None = None) -> None:
        """Print a figure and keep it; ``holds`` tells whether it reaches its target."""
        verdict = {True: "ok", False: "MISSED", None: ""}[holds]
        self.rows.append((name, value, verdict))
        print(f"{name:<60}{value:14.2f}  {verdict}", flush=True)

    @property
    def is_missed(self) -> bool:
        return any(verdict == "MISSED" for _, _, verdict in self.rows)
