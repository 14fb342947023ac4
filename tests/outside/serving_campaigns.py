"""A server under attack, overload and restarts; each campaign is one command that prints figures.

    python tests/outside/serving_campaigns.py CAMPAIGN MODEL [--size 1.0] [--log FILE]

bodies     a stream of 1 GB with and without a length, a gzip bomb, a million form fields
slow       500 half-open and 500 idle connections beside honest clients
overload   ten times more requests than can be served, for 60 seconds; answers are checked
vanish     1,000 clients leave in the middle of a request
restarts   200 times SIGTERM under load
memory     100,000 requests: bytes a request, open files
raw        10,000 requests of random and damaged bytes

``--size 0.1`` runs a tenth. The exit code is 1 if a target is missed.
"""

import argparse
import asyncio
import contextlib
import gzip
import json
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

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
    """``headway serve`` in a process of its own."""

    def __init__(self, model: str, *arguments: str) -> None:
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log", delete=False)  # noqa: SIM115
        command = [sys.executable, "-m", "headway.cli.main", "serve", model, "--port", "0"]
        self.process = subprocess.Popen([*command, *arguments], stderr=self.log)
        config = json.loads((Path(model) / "config.json").read_text(encoding="utf-8"))
        self.source, self.target = config["languages"]
        deadline = time.monotonic() + 120
        while not (found := re.findall(r"listening at \S+:(\d+)", self.text())):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(self.text())
            time.sleep(0.05)
        self.port = int(found[0])

    def text(self) -> str:
        return Path(self.log.name).read_text(encoding="utf-8")

    def metrics(self) -> dict[str, float]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        pairs = (line.rpartition(" ")[::2] for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def body(self, text: str) -> bytes:
        return json.dumps({"q": text, "source": self.source, "target": self.target}).encode()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)


async def ask(server: Server, body: bytes, path: bytes = b"/translate") -> tuple[int, bytes, float]:
    """Send one request on a connection of its own; status 0 means no answer."""
    started = time.perf_counter()
    status, answer = 0, b""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        head = HEAD % (path, JSON) + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        writer.write(head + body)
        answer = await reader.read()
        writer.close()
        status = int(answer[9:12] or 0)
    except (OSError, ValueError):
        pass
    return status, answer, time.perf_counter() - started


def sentence(chooser: random.Random) -> str:
    return " ".join(chooser.choices(WORDS, k=chooser.randrange(4, 14)))


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


FAILED: list[str] = []


def tell(name: str, value: float, holds: bool | None = None) -> None:
    """Print a figure, and remember a missed target."""
    if holds is False:
        FAILED.append(name)
    verdict = {True: "ok", False: "MISSED", None: ""}[holds]
    print(f"{name:<52}{value:14.2f}  {verdict}", flush=True)


async def send_stream(server: Server, head: bytes, pieces: int, piece: bytes) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(head)
        for _ in range(pieces):
            writer.write(piece)
            await writer.drain()
        status = int((await asyncio.wait_for(reader.read(4096), 20))[9:12] or 0)
    except (OSError, TimeoutError, ValueError):
        status = 0  # the server closed while we were still sending
    writer.close()
    return status


async def bodies(server: Server, size: float) -> None:
    limit = 1_000_000
    await ask(server, server.body("warm up"))
    before = server.metrics()["process_resident_memory_bytes"]
    total = int(size * 1e9)
    piece = b"x" * 65536
    for kind in (JSON, b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=x"):
        head = HEAD % (b"/translate", kind)
        long = head + b"Content-Length: %d\r\n\r\n" % total
        status = await send_stream(server, long, total // len(piece), piece)
        tell(f"1 GB with a length, {kind[:24].decode()}: status", status, status in (0, 413))
        chunked = head + b"Transfer-Encoding: chunked\r\n\r\n"
        framed = b"%x\r\n%s\r\n" % (len(piece), piece)
        status = await send_stream(server, chunked, total // len(piece), framed)
        tell(f"1 GB without, {kind[:24].decode()}: status", status, status in (0, 413))
    packed = gzip.compress(b"\0" * int(size * 1e8))
    head = HEAD % (b"/translate", JSON) + b"Content-Encoding: gzip\r\n"
    status = await send_stream(
        server, head + b"Content-Length: %d\r\n\r\n" % len(packed), 1, packed
    )
    tell("gzip bomb: status", status, status in (413, 415))
    fields = b"a=1&" * int(size * 1e6)
    head = HEAD % (b"/translate", b"application/x-www-form-urlencoded")
    status = await send_stream(
        server, head + b"Content-Length: %d\r\n\r\n" % len(fields), 1, fields
    )
    tell("form fields: status", status, status in (0, 400, 413))
    grown = server.metrics()["process_resident_memory_bytes"] - before
    tell("memory growth, MB (target < 2 x limit)", grown / 1e6, grown < 2 * limit)


async def slow(server: Server, size: float) -> None:
    chooser = random.Random(1)
    count = int(500 * size)

    async def honest(seconds: float) -> list[float]:
        times, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            status, _, took = await ask(server, server.body(sentence(chooser)))
            assert status == 200
            times.append(took)
        return times

    await honest(2)
    alone = percentile(await honest(10), 0.99)

    async def lazy(sent: bytes) -> float:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        started = time.monotonic()
        writer.write(sent)
        with contextlib.suppress(OSError):
            await reader.read()
        writer.close()
        return time.monotonic() - started

    lazies = [asyncio.ensure_future(lazy(b"POST /tra")) for _ in range(count)]
    lazies += [asyncio.ensure_future(lazy(b"")) for _ in range(count)]
    await asyncio.sleep(0.5)
    beside = percentile(await honest(10), 0.99)
    open_for = max(await asyncio.gather(*lazies))
    tell("longest open, s (target <= 10)", open_for, open_for <= 10)
    tell("p99 alone, ms", 1000 * alone)
    tell("p99 beside them, ms (target <= 1.5 x)", 1000 * beside, beside <= 1.5 * alone)


async def overload(server: Server, size: float) -> None:
    chooser = random.Random(2)
    texts = [sentence(chooser) for _ in range(200)]
    expected = {}
    for text in texts:
        expected[text] = json.loads((await ask(server, server.body(text)))[1].split(b"\r\n\r\n")[1])
    end = time.monotonic() + 5
    done = 0

    async def closed() -> None:
        nonlocal done
        while time.monotonic() < end:
            status, _, _ = await ask(server, server.body(chooser.choice(texts)))
            done += status == 200

    await asyncio.gather(*(closed() for _ in range(32)))
    capacity = done / 5
    tell("capacity, requests/s", capacity)
    seconds = max(5.0, 60 * size)
    results: list[tuple[int, float]] = []
    wrong = 0

    async def one() -> None:
        nonlocal wrong
        text = chooser.choice(texts)
        status, answer, took = await ask(server, server.body(text))
        results.append((status, took))
        if status == 200:
            wrong += json.loads(answer.split(b"\r\n\r\n")[1]) != expected[text]
        elif status == 429:
            wrong += b"retry-after" not in answer.lower()

    tasks = set()
    started, sent = time.monotonic(), 0
    while (now := time.monotonic() - started) < seconds:
        while sent < now * 10 * capacity and len(tasks) < 900:  # descriptors are bounded here, too
            task = asyncio.ensure_future(one())
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent += 1
        await asyncio.sleep(0.002)
    within = sum(status == 200 for status, _ in results) / seconds
    await asyncio.gather(*tasks)
    accepted = [took for status, took in results if status == 200]
    refused = [took for status, took in results if status == 429]
    tell("sent, requests/s", sent / seconds)
    tell("goodput, share of capacity (target >= 0.9)", within / capacity, within >= 0.9 * capacity)
    deadline = 5.0
    p99 = percentile(accepted, 0.99)
    tell("accepted: p99, s (target <= deadline of 5)", p99, p99 <= deadline)
    tell("refused", len(refused))
    tell(
        "refused: p99, ms (target <= 50)",
        1000 * percentile(refused, 0.99),
        percentile(refused, 0.99) <= 0.05,
    )
    other = sum(status not in (200, 429) for status, _ in results)
    for status in sorted({status for status, _ in results} - {200, 429}):
        tell(f"  status {status}", sum(found == status for found, _ in results))
    tell("answered otherwise", other, other == 0)
    tell("wrong answers", wrong, wrong == 0)


async def vanish(server: Server, size: float) -> None:
    chooser = random.Random(3)
    await ask(server, server.body("warm up"))
    before = server.metrics()

    async def one() -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        body = server.body(". ".join(sentence(chooser) for _ in range(100)))
        writer.write(
            HEAD % (b"/translate", JSON) + b"Content-Length: %d\r\n\r\n" % len(body) + body
        )
        await asyncio.sleep(chooser.random() * 0.2)
        writer.transport.abort()

    for _ in range(int(100 * size)):
        await asyncio.gather(*(one() for _ in range(10)))
    left = time.monotonic()
    while server.metrics()["headway_queue_texts"] and time.monotonic() < left + 60:
        await asyncio.sleep(0.01)
    quiet = time.monotonic() - left
    after = server.metrics()
    tell("until nothing is worked on any more, s", quiet, quiet < 2)
    tell("requests left", after["headway_queue_texts"], after["headway_queue_texts"] == 0)
    files = after["process_open_fds"] - before["process_open_fds"]
    tell("files left open", files, files <= 2)


async def restarts(model: str, size: float) -> None:
    chooser = random.Random(4)
    lost = accepted = answered = 0
    for _ in range(int(200 * size)):
        server = Server(model)
        broken: list[bytes] = []

        async def client(server: Server = server, broken: list[bytes] = broken) -> None:
            while True:
                status, answer, _ = await ask(server, server.body(sentence(chooser)))
                if status == 0:
                    if answer:
                        broken.append(answer)  # an answer that has begun and does not end
                    return

        clients = [asyncio.ensure_future(client()) for _ in range(8)]
        await asyncio.sleep(0.3 + chooser.random())
        server.process.send_signal(signal.SIGTERM)
        while server.process.poll() is None:
            await asyncio.sleep(0.02)
        await asyncio.gather(*clients)
        came, done = map(int, re.findall(r"(\d+) requests came, (\d+)", server.text())[-1])
        accepted, answered, lost = (
            accepted + came,
            answered + done,
            lost + came - done + len(broken),
        )
    tell("accepted", accepted)
    tell("answered", answered)
    tell("lost", lost, lost == 0)


async def memory(server: Server, size: float) -> None:
    chooser = random.Random(5)
    points: list[tuple[int, float]] = []
    files = set()
    total = int(100_000 * size)
    for number in range(20):
        for _ in range(total // 20 // 16):
            await asyncio.gather(*(ask(server, server.body(sentence(chooser))) for _ in range(16)))
        found = server.metrics()
        points.append((number * total // 20, found["process_resident_memory_bytes"]))
        files.add(found["process_open_fds"])
    slope = statistics.linear_regression(*zip(*points[4:], strict=True)).slope
    tell("memory, bytes a request (target <= 100)", slope, slope <= 100)
    tell("open files, most - least", max(files) - min(files), max(files) - min(files) <= 16)


async def raw(server: Server, size: float) -> None:
    chooser = random.Random(6)
    await ask(server, server.body("warm up"))
    good = [
        HEAD % (b"/translate", JSON) + b"Content-Length: %d\r\n\r\n" % len(body) + body
        for body in (server.body("a dog"), server.body("\x00\ud800".encode("utf-16", "surrogatepass").hex()))
    ] + [
        b"GET /languages HTTP/1.1\r\nHost: x\r\n\r\n",
        HEAD % (b"/detect?q=a", b"multipart/form-data; boundary=b") + b"Content-Length: 56\r\n\r\n"
        b'--b\r\nContent-Disposition: form-data; name="q"\r\n\r\nx\r\n--b--',
        HEAD % (b"/align", b"application/x-www-form-urlencoded") + b"Content-Length: 24\r\n\r\nq=a&source=en&target=de&&",
    ]  # fmt: skip
    statuses: dict[int, int] = {}
    start = None

    async def one() -> None:
        data = bytearray(chooser.choice(good))
        for _ in range(chooser.randrange(6)):
            at = chooser.randrange(len(data))
            match chooser.randrange(4):
                case 0:
                    data[at] = chooser.randrange(256)
                case 1:
                    del data[at : at + chooser.randrange(9)]
                case 2:
                    data[at:at] = chooser.randbytes(chooser.randrange(30))
                case 3:
                    data[at:at] = chooser.choice(
                        [b"\r\n", b"\0", b"\xed\xa0\x80", b"[" * 99, b"%ff"]
                    )
        answer = b""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(bytes(data))
            answer = await asyncio.wait_for(reader.read(4096), 30)
            writer.close()
        except (OSError, TimeoutError):
            pass
        status = int(answer[9:12]) if answer[9:12].isdigit() else 0
        statuses[status] = statuses.get(status, 0) + 1

    for number in range(int(10_000 * size) // 20):
        await asyncio.gather(*(one() for _ in range(20)))
        if number == int(2_000 * size) // 20:
            start = server.metrics()["process_resident_memory_bytes"]
    for status, count in sorted(statuses.items()):
        tell(f"status {status or 'none'}", count, status < 500)
    grown = server.metrics()["process_resident_memory_bytes"] - (start or 0)
    tell("memory growth after warm-up, MB (target < 20)", grown / 1e6, grown < 20e6)
    tell("errors in the log", server.text().count("ERROR"), "ERROR" not in server.text())


def main() -> None:
    names = {f.__name__: f for f in (bodies, slow, overload, vanish, memory, raw)}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("campaign", choices=[*names, "restarts"])
    parser.add_argument("model")
    parser.add_argument("--size", type=float, default=1.0)
    args = parser.parse_args()
    if args.campaign == "restarts":
        asyncio.run(restarts(args.model, args.size))
    else:
        options = {
            "overload": ["--server.deadline", "5"],
            "raw": ["--server.idle-seconds", "1"],
        }
        extra = options.get(args.campaign, [])
        server = Server(args.model, *extra)
        try:
            asyncio.run(names[args.campaign](server, args.size))
        finally:
            server.stop()
    raise SystemExit(bool(FAILED))


if __name__ == "__main__":
    main()
