"""Campaigns that measure what the server promises, each without a proxy and through nginx and Caddy.

    python tests/outside/serving_campaigns.py MODEL [--campaign NAME ...] [--through WAY ...]
        [--size 1.0] [--json FILE] [arguments of headway serve]

| campaign | what it does |
| raw | 10,000 requests of random, damaged and hostile bytes, /health asked beside them |
| bodies | a stream of 1 GB with and without a length, a gzip bomb, a million form fields |
| slow | 500 half-open and 500 idle connections beside honest clients |
| overload | ten times more requests than can be served, for 60 seconds; answers are checked |
| vanish | 1,000 clients leave in the middle of a request, of each kind |
| restarts | 200 times SIGTERM under load |
| memory | 100,000 requests: memory a request, open files |

Without options all campaigns run in all ways that are installed; that takes hours. ``--size 0.1`` runs
a tenth. The exit code is 1 if a target is missed. `serving_fuzz.py` adds requests made from the
server's own description to `raw`.
"""

import asyncio
import contextlib
import gzip
import json
import os
import random
import re
import signal
import statistics
import tempfile
import time
from itertools import product
from pathlib import Path

from open_loop import load
from serving_process import (
    FORM,
    JSON,
    Server,
    ask,
    ask_health,
    make_head,
    make_request,
    percentile,
    require_answer,
    send,
    sentence,
)  # fmt: skip

from support.campaign import Campaign
from support.file_damage import damage_bytes
from support.proxies import PROXIES, Proxy, free_port

SEPARATE_CORES = ("overload", "slow")  # the last core sends, the others serve
ARGUMENTS = {"raw": ["--server.idle-seconds", "1"]}
# Without a proxy a short deadline limits what waits; through a proxy its limit of 400 requests does.
DEADLINES = {"direct": 5.0, "nginx": 30.0, "caddy": 30.0}
PAUSE = 25.0  # seconds, in which the server gives back what is not needed any more
NAMES = ("raw", "bodies", "slow", "overload", "vanish", "restarts", "memory")


async def send_stream(server, head, chunks, chunk):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(head)
        for _ in range(chunks):
            writer.write(chunk)
            await writer.drain()
        status = int((await asyncio.wait_for(reader.read(4096), 20))[9:12] or 0)
    except (OSError, TimeoutError, ValueError):
        status = 0  # the server closed the connection while this was sending
    writer.close()
    return status


async def bodies(server, size, figures):
    limit = 1_000_000
    await require_answer(server.port, server.body("warm up"))
    before = server.metrics()["process_resident_memory_bytes"]
    total = int(size * 1e9)
    chunk = b"x" * 65536
    framed = b"%x\r\n%s\r\n" % (len(chunk), chunk)
    for kind in (JSON, FORM, b"multipart/form-data; boundary=x"):
        chunked = make_head(b"/translate", kind) + b"Transfer-Encoding: chunked\r\n\r\n"
        for name, head, data in (
            ("with a length", make_head(b"/translate", kind, total), chunk), ("without", chunked, framed),
        ):  # fmt: skip
            status = await send_stream(server, head, total // len(chunk), data)
            figures.figure(f"1 GB {name}, {kind[:24].decode()}: status", status, status in (0, 413))
    packed = gzip.compress(b"\0" * int(size * 1e8))
    head = make_head(b"/translate", JSON, len(packed), b"Content-Encoding: gzip")
    status = await send_stream(server, head, 1, packed)
    figures.figure("gzip bomb: status", status, status in (413, 415))
    fields = b"a=1&" * int(size * 1e6)
    status = await send_stream(server, make_head(b"/translate", FORM, len(fields)), 1, fields)
    figures.figure("form fields: status", status, status in (0, 400, 413))
    # A status of 0 above is a closed connection: the server must still be there.
    await require_answer(server.port, server.body("still there"))
    await asyncio.sleep(PAUSE)
    grown = server.metrics()["process_resident_memory_bytes"] - before
    figures.figure("memory growth, MB (target < 2 x limit)", grown / 1e6, grown < 2 * limit)


async def slow(server, size, figures):
    chooser = random.Random(1)
    count = int(500 * size)

    async def honest(seconds):
        times, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            status, _, took = await ask(server.port, server.body(sentence(chooser)))
            assert status == 200
            times.append(took)
        return times

    await honest(2)
    alone = percentile(await honest(10), 0.99)

    async def lazy(sent):
        started = time.monotonic()
        with contextlib.suppress(OSError):
            await send(server.port, sent)
        return time.monotonic() - started

    lazies = [asyncio.ensure_future(lazy(b"POST /tra")) for _ in range(count)]
    lazies += [asyncio.ensure_future(lazy(b"")) for _ in range(count)]
    await asyncio.sleep(0.5)
    beside = percentile(await honest(10), 0.99)
    open_for = max(await asyncio.gather(*lazies))
    figures.figure("longest open, s (target <= 10)", open_for, open_for <= 10)
    figures.figure("p99 alone, ms", 1000 * alone)
    figures.figure("p99 beside them, ms (target <= 1.5 x)", 1000 * beside, beside <= 1.5 * alone)


async def overload(server, size, figures):
    chooser = random.Random(2)
    texts = [sentence(chooser) for _ in range(200)]
    requests, expected = [], []
    for text in texts:
        body = server.body(text)
        requests.append(make_request(b"/translate", body, JSON, b"Connection: close"))
        expected.append((await require_answer(server.port, body)).partition(b"\r\n\r\n")[2])

    def request(number):
        return requests[number % len(requests)]

    def goodput(replies, since, until):
        good = sum(r.status == 200 and since <= r.ended < until for r in replies)
        return good / (until - since)

    load(server.port, request, 3, at_once=32)
    tried = max(10.0, 20 * size)
    peak = goodput(load(server.port, request, tried, at_once=32), 0, tried)
    figures.figure("peak, requests/s (32 clients, each its next when answered)", peak)
    seconds = max(10.0, 60 * size)
    spent = server.seconds()
    replies = load(server.port, request, seconds, rate=10 * peak)
    figures.figure("sent, requests/s", len(replies) / seconds)
    figures.figure("sender behind, p99, ms", 1000 * percentile([r.late for r in replies], 0.99))
    figures.figure("server, share of a core", (server.seconds() - spent) / seconds)
    # The queue fills in the beginning, and empties after the end.
    steady = goodput(replies, min(5.0, seconds / 2), seconds)
    figures.figure("goodput, share of peak (target >= 0.9)", steady / peak, steady >= 0.9 * peak)
    accepted = [r.took for r in replies if r.status == 200]
    refused = [r.took for r in replies if r.status == 429]
    deadline = DEADLINES["direct" if server.port == server.own_port else "nginx"]
    p99 = percentile(accepted, 0.99)
    figures.figure("accepted", len(accepted), len(accepted) > 0)
    figures.figure(f"accepted: p99, s (target <= deadline of {deadline:.0f})", p99, p99 <= deadline)
    figures.figure("refused", len(refused))
    figures.figure("refused: median, ms", 1000 * percentile(refused, 0.5))
    p99 = percentile(refused, 0.99)
    figures.figure("refused: p99, ms (target <= 250)", 1000 * p99, p99 <= 0.25)
    figures.figure("refused: latest, ms", 1000 * max(refused, default=0))
    bare = sum(b"retry-after" not in r.answer.lower() for r in replies if r.status == 429)
    figures.figure("refused without Retry-After", bare, bare == 0)
    other = len(replies) - len(accepted) - len(refused)
    for status in sorted({r.status for r in replies} - {200, 429}):
        figures.figure(f"  status {status or 'none'}", sum(r.status == status for r in replies))
    figures.figure("answered otherwise", other, other == 0)
    wrong = sum(
        r.answer.partition(b"\r\n\r\n")[2] != expected[r.number % len(expected)]
        for r in replies
        if r.status == 200
    )
    figures.figure("wrong answers", wrong, wrong == 0)


def requests_seen(server, path):
    """Return how many requests of an address have ended, with whatever status."""
    name = f'headway_requests_total{{endpoint="{path.decode()}"'
    return sum(value for key, value in server.metrics().items() if key.startswith(name))


async def vanish(server, size, figures):
    chooser = random.Random(3)
    kinds: list[tuple[bytes, dict[str, str]]] = [
        (b"/translate", {}),
        (b"/translate", {"format": "html"}),
        (b"/align", {}),
        (b"/attention", {}),
        (b"/stream", {}),
    ]
    for path, more in kinds:
        await require_answer(server.port, server.body("warm up", **more), path)
    before = server.metrics()["process_open_fds"]

    async def one(path, more):
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        # Maps are drawn of one sentence only.
        count = 10 if path == b"/attention" else 100
        body = server.body(". ".join(sentence(chooser) for _ in range(count)), **more)
        writer.write(make_request(path, body))
        await asyncio.sleep(chooser.random() * 0.2)
        writer.transport.abort()

    for path, more in kinds:
        name = " ".join([path.decode(), *more.values()])
        seen = requests_seen(server, path)
        for _ in range(max(1, int(20 * size))):
            await asyncio.gather(*(one(path, more) for _ in range(10)))
        # A thread that still works shows in the processor time only: the queue has forgotten its job.
        left, spent = time.monotonic(), server.seconds()
        quiet = left
        while time.monotonic() < min(left + 60, quiet + 1):
            await asyncio.sleep(0.1)
            if server.seconds() - spent > 0.02:
                quiet = time.monotonic()
            spent = server.seconds()
        figures.figure(f"{name}: worked on after all had left, s", quiet - left, quiet - left < 2)
        seen = requests_seen(server, path) - seen
        figures.figure(f"{name}: requests that the server read", seen, seen > 0)
    after = server.metrics()
    figures.figure("requests left", after["headway_queue_texts"], after["headway_queue_texts"] == 0)
    files = after["process_open_fds"] - before
    figures.figure("files left open", files, files <= 2)


async def restarts(model, size, figures, way, arguments):
    chooser = random.Random(4)
    came = answered = whole = unanswered = unavailable = other = 0
    idle = 0  # servers that answered nobody
    ends = []
    own_port = free_port()
    folder = Path(tempfile.mkdtemp())
    proxy = None if way == "direct" else Proxy(way, own_port, folder)
    for _ in range(max(1, int(200 * size))):
        server = Server(model, *arguments, port=own_port)
        server.port = own_port if proxy is None else proxy.port
        found: list[int] = []

        async def client(server=server, found=found):
            while True:
                status, _, _ = await ask(server.port, server.body(sentence(chooser)))
                found.append(status)
                if status != 200:
                    return

        clients = [asyncio.ensure_future(client()) for _ in range(8)]
        await asyncio.sleep(0.3 + chooser.random())
        server.process.send_signal(signal.SIGTERM)
        ending = time.monotonic()
        while server.process.poll() is None:
            await asyncio.sleep(0.02)
        ends.append(time.monotonic() - ending)
        await asyncio.gather(*clients)
        [(here, there)] = re.findall(r"received (\d+) requests, answered (\d+)", server.text())
        came, answered = came + int(here), answered + int(there)
        whole += found.count(200)
        idle += 200 not in found
        # Connected, and not answered: whether the request was read or not.
        unanswered += found.count(0)
        unavailable += sum(status in (502, 503, 504) for status in found)
        other += sum(status not in (-1, 0, 200, 502, 503, 504) for status in found)
    if proxy is not None:
        proxy.stop()
    figures.figure("requests that the servers read", came)
    figures.figure("of these answered", answered, answered == came)
    figures.figure("answers that clients read whole", whole, whole > 0)
    figures.figure("servers that answered nobody", idle, idle == 0)
    figures.figure("answered otherwise", other, other == 0)
    figures.figure(
        "clients that were connected and got no whole answer", unanswered, unanswered == 0
    )
    figures.figure("clients that got 503 instead of a connection (proxy)", unavailable)
    figures.figure("from the signal to the end, median, s", statistics.median(ends))


async def memory(server, size, figures):
    chooser = random.Random(5)
    points: list[tuple[int, float]] = []
    files = set()
    rounds = max(1, int(100_000 * size) // 20 // 16)  # of 16 requests, between two figures
    sent = answered = 0
    for _ in range(20):
        for _ in range(rounds):
            bodies = [server.body(sentence(chooser)) for _ in range(16)]
            replies = await asyncio.gather(*(ask(server.port, body) for body in bodies))
            sent += len(replies)
            answered += sum(status == 200 for status, _, _ in replies)
        found = server.metrics()
        points.append((sent, found["process_resident_memory_bytes"]))
        files.add(found["process_open_fds"])
        figures.figure(f"memory after {sent:,}, MB", points[-1][1] / 1e6)
    figures.figure("requests", sent)
    figures.figure("not answered with 200", sent - answered, answered == sent)
    slope = statistics.linear_regression(*zip(*points[4:], strict=True)).slope
    figures.figure("memory, bytes a request (target <= 100)", slope, slope <= 100)
    late = statistics.linear_regression(*zip(*points[10:], strict=True)).slope
    figures.figure("the same over the second half", late)
    figures.figure(
        "open files, most - least", max(files) - min(files), max(files) - min(files) <= 16
    )


async def raw(server, size, figures):
    chooser = random.Random(6)
    await require_answer(server.port, server.body("warm up"))
    odd = "\x00\ud800".encode("utf-16", "surrogatepass").hex()
    part = b'--b\r\nContent-Disposition: form-data; name="q"\r\n\r\nx\r\n--b--'
    good = [
        make_request(b"/translate", server.body("a dog")),
        make_request(b"/translate", server.body(odd)),
        b"GET /languages HTTP/1.1\r\nHost: x\r\n\r\n",
        make_request(b"/detect?q=a", part, b"multipart/form-data; boundary=b"),
        make_request(b"/align", b"q=a&source=en&target=de&&", FORM),
    ]
    # Each of them is answered or rejected, and the others do not wait for it.
    hostile = [
        b'{"q": "' + b'\\"' * 200_000,
        b'{"q": ' + b"]" * 900_000,
        b" " * 900_000,
        server.body(["Hi a. " * 333] * 64),
        server.body(["x " * 4_990] * 64),
        server.body(["<wbr>" * 1_000 + " ." * 2_000 + "a"] * 32, format="html"),
        server.body(["&#" + "1" * 5_000 + ";"] * 32, format="html"),
    ]
    heavy = [make_request(b"/translate", body) for body in hostile]
    statuses: dict[int, int] = {}
    waits: list[float] = []
    start = None

    async def watch():
        while True:
            waits.append(await ask_health(server.port))
            await asyncio.sleep(0.05)

    async def one():
        whole = chooser.random() < 0.01  # one in a hundred is hostile, and sent unchanged
        data = chooser.choice(heavy if whole else good)
        for _ in range(0 if whole else chooser.randrange(6)):
            data, _ = damage_bytes(data, chooser)
        answer = b""
        with contextlib.suppress(OSError, TimeoutError):
            answer = await asyncio.wait_for(send(server.port, data, 4096), 30)
        status = int(answer[9:12]) if answer[9:12].isdigit() else 0
        statuses[status] = statuses.get(status, 0) + 1

    count = int(10_000 * size)
    numbers = iter(range(count))

    async def client():
        nonlocal start
        for (
            number
        ) in numbers:  # shared: a client whose request waits for its timeout delays no other
            await one()
            if number == count // 5:
                start = server.metrics()["process_resident_memory_bytes"]

    watching = asyncio.ensure_future(watch())
    await asyncio.gather(*(client() for _ in range(20)))
    if watching.done():
        watching.result()  # raises what ended the watch
    watching.cancel()
    figures.figure("/health beside them, median, ms", 1000 * statistics.median(waits))
    figures.figure("/health beside them, latest, s (target <= 1)", max(waits), max(waits) <= 1)
    # 501 and 505 are a proxy's answers to methods and versions of HTTP that do not exist.
    allowed = (501, 505) if server.port != server.own_port else ()
    for status, count in sorted(statuses.items()):
        figures.figure(f"status {status or 'none'}", count, status < 500 or status in allowed)
    # One request in six is sent without damage.
    good_answers = statuses.get(200, 0)
    figures.figure("undamaged requests that were answered", good_answers, good_answers > 0)
    most = server.metrics()["process_resident_memory_bytes"]
    await asyncio.sleep(PAUSE)
    grown = server.metrics()["process_resident_memory_bytes"] - (start or 0)
    figures.figure("memory at the end, before the pause, MB", most / 1e6)
    figures.figure("memory growth after warm-up, MB (target < 20)", grown / 1e6, grown < 20e6)
    errors = [line for line in server.text().splitlines() if "ERROR" in line]
    figures.figure("errors in the log", len(errors), not errors)
    print(*errors, sep="\n")


CAMPAIGNS = {f.__name__: f for f in (raw, bodies, slow, overload, vanish, memory)}


class Serving(Campaign):
    """The campaigns that the arguments name, in each of the ways."""

    def work(self):
        """Run them one after the other, and print what was missed."""
        missed, rows = [], []
        for name, way in product(self.options.campaign, self.options.through):
            print(f"\n{name}, {way}", flush=True)
            self.figures.clear()
            self.measure(name, way)
            rows.append({"campaign": name, "way": way, "figures": [*self.figures]})
            found = "; ".join(f"{n}: {v:.2f}" for n, v, holds in self.figures if holds is False)
            missed.append(f"| {name} | {way} | {found or 'nothing'} |")
        print("\n| campaign | way | missed |\n|---|---|---|", *missed, sep="\n")
        if self.options.json:
            text = json.dumps(rows, indent=2) + "\n"
            Path(self.options.json).write_text(text, encoding="utf-8")

    def measure(self, name, way):
        """Run a campaign without a proxy ("direct") or through one."""
        options = self.options
        arguments = [*ARGUMENTS.get(name, []), *options.further]
        if name == "overload":
            arguments += ["--server.deadline", str(DEADLINES[way])]
        if way != "direct":
            arguments += ["--server.trusted-proxies", "127.0.0.1"]
        if name == "restarts":
            asyncio.run(restarts(options.model, options.size, self, way, arguments))
            return
        ours = os.sched_getaffinity(0)
        cores = sorted(ours)
        is_apart = name in SEPARATE_CORES and len(cores) > 1
        proxy = None
        server = Server(options.model, *arguments, cores=set(cores[:-1]) if is_apart else None)
        if is_apart:  # a proxy shares the core of the clients
            os.sched_setaffinity(0, {cores[-1]})
        try:
            if way != "direct":
                proxy = Proxy(way, server.own_port, Path(tempfile.mkdtemp()))
                server.port = proxy.port
            asyncio.run(CAMPAIGNS[name](server, options.size, self))
        finally:
            server.stop()
            if proxy is not None:
                proxy.stop()
            os.sched_setaffinity(0, ours)


if __name__ == "__main__":
    ways = ["direct", *PROXIES]
    Serving.run(
        __doc__,
        {
            "model": str, "--campaign": {"nargs": "+", "choices": NAMES, "default": NAMES}, "--size": 1.0,
            "--through": {"nargs": "+", "choices": ways, "default": ways}, "--json": "",
        },
        passes_on=True,
    )  # fmt: skip
