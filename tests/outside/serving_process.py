"""A server under test, and a client that sends one request."""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from open_loop import complete

from support.server import Running

WRITTEN = "a man woman dog two children in red shirt rides plays sits on the street bike with ball"
WORDS = WRITTEN.split()
JSON = b"application/json"
FORM = b"application/x-www-form-urlencoded"


def make_head(path, kind=JSON, size=None, *more):
    """Return the head of a POST request; without a size of the body, and so without its end."""
    lines = [b"POST %s HTTP/1.1" % path, b"Host: x", b"Content-Type: %s" % kind, *more]
    if size is None:
        return b"\r\n".join([*lines, b""])
    return b"\r\n".join([*lines, b"Content-Length: %d" % size, b"", b""])


def make_request(path, body, kind=JSON, *more):
    """Return a POST request."""
    return make_head(path, kind, len(body), *more) + body


class Server(Running):
    """``headway serve`` for a campaign.

    Args:
        model: A model directory of one pair of languages.
        arguments: Of the verb.
        cores: Those on which it runs; by default all.
        port: Its own; 0: any.

    Attributes:
        port: Where the campaign sends its requests; a proxy's, if there is one.
        own_port: The server's own port.
    """

    def __init__(self, model, *arguments, cores=None, port=0):
        config = json.loads((Path(model) / "config.json").read_text(encoding="utf-8"))
        self.source, self.target = config["languages"]
        ours = os.sched_getaffinity(0)
        log = Path(tempfile.mkdtemp()) / "log"
        os.sched_setaffinity(0, cores or ours)
        threads = str(len(cores or ours))
        super().__init__(log, model, "--port", str(port), *arguments, OMP_NUM_THREADS=threads)
        os.sched_setaffinity(0, ours)
        self.own_port = self.port

    def seconds(self):
        """Return the processor seconds that the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def body(self, text, **more):
        fields = {"q": text, "source": self.source, "target": self.target, **more}
        return json.dumps(fields).encode()


async def send(port, data, most=-1):
    """Send bytes on a connection of its own, and return what is answered until it is closed; then leave."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        return await reader.read(most)
    finally:
        writer.transport.abort()


async def ask_health(port):
    """Ask for /health and return the seconds until it was answered.

    Raises:
        OSError: If it was not answered with 200.
    """
    started = time.monotonic()
    answer = await send(port, b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    if b" 200 " not in answer[:16]:
        raise OSError(str(answer))
    return time.monotonic() - started


async def ask(port, body, path=b"/translate"):
    """Send one request on a connection of its own.

    Returns:
        The status, the answer and its seconds. Status 0: no whole answer; -1: no connection.
    """
    started = time.perf_counter()
    status, answer = -1, b""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        status = 0
        writer.write(make_request(path, body, JSON, b"Connection: close"))
        answer = await reader.read()
        writer.close()
        status = int(answer[9:12]) if complete(answer) else 0
    except (OSError, ValueError):
        pass
    return status, answer, time.perf_counter() - started


async def require_answer(port, body, path=b"/translate"):
    """Send one request that has to succeed, and return its answer.

    Raises:
        SystemExit: If the status is not 200: the campaign would measure nothing.
    """
    status, answer, _ = await ask(port, body, path)
    if status != 200:
        raise SystemExit(f"{path.decode()}: status {status}, not 200: {answer[:200]!r}")
    return answer


def sentence(chooser):
    return " ".join(chooser.choices(WORDS, k=chooser.randrange(4, 14)))


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0
