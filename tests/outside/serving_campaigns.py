"""A server under attack, overload and restarts; each campaign is one command that prints figures.

    python tests/outside/serving_campaigns.py CAMPAIGN MODEL [--size 1.0] [arguments of headway serve]

bodies     a stream of 1 GB with and without a length, a gzip bomb, a million form fields
slow       500 half-open and 500 idle connections beside honest clients
overload   ten times more requests than can be served, for 60 seconds; answers are checked
vanish     1,000 clients leave in the middle of a request, of each kind; the processor must rest then
restarts   200 times SIGTERM under load
memory     100,000 requests: bytes a request, open files
raw        10,000 requests of random, damaged and hostile bytes; /health must answer beside them

``--size 0.1`` runs a tenth. The exit code is 1 if a target is missed.
"""

import argparse
import asyncio
import contextlib
import gzip
import json
import os
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

from open_loop import Reply, complete, load

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
APART = ("overload", "slow")  # the last core sends, the others serve
HEAD = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n"
JSON = b"application/json"


class Server:
    """``headway serve`` in a process of its own."""

    def __init__(self, model: str, *arguments: str, cores: set[int] | None = None) -> None:
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log", delete=False)  # noqa: SIM115
        command = [sys.executable, "-m", "headway.cli.main", "serve", model, "--port", "0"]
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
        self.port = int(found[0])

    def text(self) -> str:
        return Path(self.log.name).read_text(encoding="utf-8")

    def metrics(self) -> dict[str, float]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        pairs = (line.rpartition(" ")[::2] for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def seconds(self) -> float:
        """Processor seconds it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def body(self, text: str | list[str], **more: str) -> bytes:
        fields = {"q": text, "source": self.source, "target": self.target, **more}
        return json.dumps(fields).encode()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)


async def ask(server: Server, body: bytes, path: bytes = b"/translate") -> tuple[int, bytes, float]:
    """Send one request on a connection of its own; 0 means no whole answer, -1 no connection."""
    started = time.perf_counter()
    status, answer = -1, b""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        head = HEAD % (path, JSON) + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        status = 0
        writer.write(head + body)
        answer = await reader.read()
        writer.close()
        status = int(answer[9:12]) if complete(answer) else 0
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
    requests, expected = [], []
    for text in texts:
        body = server.body(text)
        requests.append(
            HEAD % (b"/translate", JSON)
            + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
            + body
        )
        expected.append((await ask(server, body))[1].partition(b"\r\n\r\n")[2])

    def request(number: int) -> bytes:
        return requests[number % len(requests)]

    def goodput(replies: list[Reply], since: float, until: float) -> float:
        good = sum(r.status == 200 and since <= r.ended < until for r in replies)
        return good / (until - since)

    load(server.port, request, 3, at_once=32)
    tried = max(10.0, 20 * size)
    peak = goodput(load(server.port, request, tried, at_once=32), 0, tried)
    tell("peak, requests/s (32 clients, each its next when answered)", peak)
    seconds = max(10.0, 60 * size)
    spent = server.seconds()
    replies = load(server.port, request, seconds, rate=10 * peak)
    tell("sent, requests/s", len(replies) / seconds)
    tell("sender behind, p99, ms", 1000 * percentile([r.late for r in replies], 0.99))
    tell("server, share of a core", (server.seconds() - spent) / seconds)
    # The queue fills in the beginning, and empties after the end.
    steady = goodput(replies, min(5.0, seconds / 2), seconds)
    tell("goodput, share of peak (target >= 0.9)", steady / peak, steady >= 0.9 * peak)
    accepted = [r.took for r in replies if r.status == 200]
    refused = [r.took for r in replies if r.status == 429]
    deadline = 5.0
    p99 = percentile(accepted, 0.99)
    tell("accepted", len(accepted))
    tell("accepted: p99, s (target <= deadline of 5)", p99, p99 <= deadline)
    tell("refused", len(refused))
    tell("refused: median, ms", 1000 * percentile(refused, 0.5))
    p99 = percentile(refused, 0.99)
    tell("refused: p99, ms (target <= 50)", 1000 * p99, p99 <= 0.05)
    tell("refused: latest, ms", 1000 * max(refused, default=0))
    bare = sum(b"retry-after" not in r.answer.lower() for r in replies if r.status == 429)
    tell("refused without Retry-After", bare, bare == 0)
    other = len(replies) - len(accepted) - len(refused)
    for status in sorted({r.status for r in replies} - {200, 429}):
        tell(f"  status {status or 'none'}", sum(r.status == status for r in replies))
    tell("answered otherwise", other, other == 0)
    wrong = sum(
        r.answer.partition(b"\r\n\r\n")[2] != expected[r.number % len(expected)]
        for r in replies
        if r.status == 200
    )
    tell("wrong answers", wrong, wrong == 0)


async def vanish(server: Server, size: float) -> None:
    chooser = random.Random(3)
    kinds: list[tuple[bytes, dict[str, str]]] = [
        (b"/translate", {}),
        (b"/translate", {"format": "html"}),
        (b"/align", {}),
        (b"/attention", {}),
        (b"/stream", {}),
    ]
    for path, more in kinds:
        await ask(server, server.body("warm up", **more), path)
    before = server.metrics()["process_open_fds"]

    async def one(path: bytes, more: dict[str, str]) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        # Maps are drawn of one sentence only.
        count = 10 if path == b"/attention" else 100
        body = server.body(". ".join(sentence(chooser) for _ in range(count)), **more)
        writer.write(HEAD % (path, JSON) + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        await asyncio.sleep(chooser.random() * 0.2)
        writer.transport.abort()

    for path, more in kinds:
        name = " ".join([path.decode(), *more.values()])
        for _ in range(max(1, int(20 * size))):
            await asyncio.gather(*(one(path, more) for _ in range(10)))
        # What a thread still works on shows in its processor time only: no queue knows of it any more.
        left, spent = time.monotonic(), server.seconds()
        quiet = left
        while time.monotonic() < min(left + 60, quiet + 1):
            await asyncio.sleep(0.1)
            if server.seconds() - spent > 0.02:
                quiet = time.monotonic()
            spent = server.seconds()
        tell(f"{name}: worked on after all had left, s", quiet - left, quiet - left < 2)
    after = server.metrics()
    tell("requests left", after["headway_queue_texts"], after["headway_queue_texts"] == 0)
    files = after["process_open_fds"] - before
    tell("files left open", files, files <= 2)


async def restarts(model: str, size: float) -> None:
    chooser = random.Random(4)
    came = answered = whole = unanswered = 0
    ends = []
    for _ in range(int(200 * size)):
        server = Server(model)
        found: list[int] = []

        async def client(server: Server = server, found: list[int] = found) -> None:
            while True:
                status, _, _ = await ask(server, server.body(sentence(chooser)))
                found.append(status)
                if status <= 0:
                    return

        clients = [asyncio.ensure_future(client()) for _ in range(8)]
        await asyncio.sleep(0.3 + chooser.random())
        server.process.send_signal(signal.SIGTERM)
        ending = time.monotonic()
        while server.process.poll() is None:
            await asyncio.sleep(0.02)
        ends.append(time.monotonic() - ending)
        await asyncio.gather(*clients)
        [(here, there)] = re.findall(r"(\d+) requests came, (\d+)", server.text())
        came, answered = came + int(here), answered + int(there)
        whole += found.count(200)
        # Connected, and not answered: whether the request was read or not.
        unanswered += found.count(0)
    tell("requests that the servers read", came)
    tell("of these answered", answered, answered == came)
    tell("answers that clients read whole", whole)
    tell("clients that were connected and got no whole answer", unanswered, unanswered == 0)
    tell("from the signal to the end, median, s", statistics.median(ends))


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
        tell(f"memory after {(number + 1) * total // 20:,}, MB", points[-1][1] / 1e6)
    slope = statistics.linear_regression(*zip(*points[4:], strict=True)).slope
    tell("memory, bytes a request (target <= 100)", slope, slope <= 100)
    late = statistics.linear_regression(*zip(*points[10:], strict=True)).slope
    tell("the same over the second half", late)
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
    # Each of them is answered, or refused, without the others' waiting for it.
    hostile = [
        b'{"q": "' + b'\\"' * 200_000,
        b'{"q": ' + b"]" * 900_000,
        b" " * 900_000,
        server.body(["Hi a. " * 333] * 64),
        server.body(["x " * 4_990] * 64),
        server.body(["<wbr>" * 1_000 + " ." * 2_000 + "a"] * 32, format="html"),
        server.body(["&#" + "1" * 5_000 + ";"] * 32, format="html"),
    ]
    heavy = [
        HEAD % (b"/translate", JSON) + b"Content-Length: %d\r\n\r\n" % len(body) + body
        for body in hostile
    ]
    statuses: dict[int, int] = {}
    waits: list[float] = []
    start = None

    async def watch() -> None:
        while True:
            started = time.monotonic()
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            await reader.read()
            writer.close()
            waits.append(time.monotonic() - started)
            await asyncio.sleep(0.05)

    async def one() -> None:
        whole = chooser.random() < 0.01  # one in a hundred is a hostile one, as it is
        data = bytearray(chooser.choice(heavy if whole else good))
        for _ in range(0 if whole else chooser.randrange(6)):
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

    watching = asyncio.ensure_future(watch())
    for number in range(int(10_000 * size) // 20):
        await asyncio.gather(*(one() for _ in range(20)))
        if number == int(2_000 * size) // 20:
            start = server.metrics()["process_resident_memory_bytes"]
    watching.cancel()
    tell("/health beside them, median, ms", 1000 * statistics.median(waits))
    tell("/health beside them, latest, s (target <= 1)", max(waits), max(waits) <= 1)
    for status, count in sorted(statuses.items()):
        tell(f"status {status or 'none'}", count, status < 500)
    grown = server.metrics()["process_resident_memory_bytes"] - (start or 0)
    tell("memory growth after warm-up, MB (target < 20)", grown / 1e6, grown < 20e6)
    errors = [line for line in server.text().splitlines() if "ERROR" in line]
    tell("errors in the log", len(errors), not errors)
    print(*errors, sep="\n")


def main() -> None:
    names = {f.__name__: f for f in (bodies, slow, overload, vanish, memory, raw)}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("campaign", choices=[*names, "restarts"])
    parser.add_argument("model")
    parser.add_argument("--size", type=float, default=1.0)
    args, further = parser.parse_known_args()
    if args.campaign == "restarts":
        asyncio.run(restarts(args.model, args.size))
    else:
        options = {
            "overload": ["--server.deadline", "5"],
            "raw": ["--server.idle-seconds", "1"],
        }
        extra = options.get(args.campaign, []) + further
        cores = sorted(os.sched_getaffinity(0))
        apart = args.campaign in APART and len(cores) > 1
        server = Server(args.model, *extra, cores=set(cores[:-1]) if apart else None)
        if apart:
            os.sched_setaffinity(0, {cores[-1]})
        try:
            asyncio.run(names[args.campaign](server, args.size))
        finally:
            server.stop()
    raise SystemExit(bool(FAILED))


if __name__ == "__main__":
    main()
