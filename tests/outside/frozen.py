"""Small requests and files that could keep a server from answering: each must cost little.

    python tests/outside/frozen.py MODEL [--case NAME ...] [--patience 12] [arguments of headway serve]

For each case a server of its own starts, and /health is asked every 50 ms while the case is sent. Its client waits
for ``--patience`` seconds at most, and then leaves. A case passes if it is answered within 10 seconds, if /health always answers within a
second, if the process never has more than 1 GB, if no answer is 500, and if the server works no more than 2 seconds on it after the
client has left, and ends within 2 seconds of SIGTERM. A server that grows beyond 3 GB is killed.
"""

import asyncio
import contextlib
import json
import random
import re
import signal
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO

from serving_process import FORM, JSON, Server, ask, ask_health, make_request, send

from support.campaign import Campaign
from support.http_requests import TYPES, write_multipart
from support.office_files import make_docx, make_xlsx
from support.office_packages import change_member
from support.processes import read_memory

MOST_MEMORY = 3_000  # MB; a larger server is killed
ASKED = 10.0  # seconds until a question for /health is given up


@dataclass(frozen=True)
class Sent:
    """A request: its address and its body, JSON or a form with a file."""

    path: bytes
    body: bytes
    kind: bytes = JSON


@dataclass
class Seen:
    """What became of a case."""

    statuses: list[int] = field(default_factory=list)
    answer: bytes = b""
    seconds: float = 0.0
    health: float = 0.0
    memory: float = 0.0
    after: float = 0.0
    ending: float = 0.0
    is_dead: bool = False  # before it was told to end


def file(server, name, data):
    """Return the request that translates a file."""
    fields = {"source": server.source, "target": server.target}
    body = write_multipart(fields, [("file", name, data)])
    return Sent(b"/translate_file", body, TYPES["multipart"].encode())


def texts(server, given, **more):
    """Return the request that translates texts."""
    return Sent(b"/translate", server.body(given, **more))


def docx(element, spare):
    """Return a document that begins with an element, and has so many random bytes besides, which cannot be packed."""
    change = partial(re.sub, "(?<=<w:body>)", lambda _: element)
    package = BytesIO(change_member(make_docx(random.Random(1)), "word/document.xml", change))
    with zipfile.ZipFile(package, "a") as members:
        members.writestr("word/media/a.png", random.Random(1).randbytes(spare))
    return package.getvalue()


def run(text):
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def xliff(server, content):
    return (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" datatype="plaintext"'
        f' source-language="{server.source}" target-language="{server.target}"><body><trans-unit id="1"><source>{content}'
        "</source></trans-unit></body></file></xliff>"
    ).encode()


def comments(count, form):
    """Return a change that adds a comment with elements without an end, each with a prefix of its own."""
    made = "".join(form.format(number) for number in range(count))
    return lambda source: f"{source}<!--{made}-->"


PATHS = "A dog " + "/.-" * 3_330
MANY = "|".join(f"w{number:04x}" for number in range(15_800))
MARKS = "".join(chr(0xF0000 + 180 * number) for number in range(729))
NAME = "a" * 4_000
CASES: dict[str, Callable[[Server], list[Sent]]] = {
    # C1: patterns
    "tag with spaces in a .docx": lambda s: [file(s, "a.docx", docx(f"<w:p><{NAME}:docPr{' ' * 7_900_000}/></w:p>", 20_000))],
    "long tag name in an .xlf": lambda s: [file(s, "a.xlf", xliff(s, f"A <{'a' * 60_000}/> dog"))],
    "paths in a .txt": lambda s: [file(s, "a.txt", b"A dog " + b"/.-" * 100_000)],
    "spaces in a .json": lambda s: [file(s, "a.json", json.dumps({"a": "A" + " " * 1_500_000 + "dog"}).encode())],
    "comments in an .xlsx": lambda s: [
        file(s, "a.xlsx", change_member(make_xlsx(random.Random(1)), name, comments(60_000, form)))
        for name, form in (("xl/worksheets/sheet1.xml", "<p{}:c a>"), ("xl/sharedStrings.xml", "<p{}:si>"))
    ],
    "64 texts of paths": lambda s: [texts(s, [PATHS] * 64)],
    "64 texts of placeholders": lambda s: [texts(s, ["A%s" * 3_333] * 64)],
    # C2: products
    "renderings": lambda s: [texts(s, "dog " * 390, glossary=f"dog\t{MANY}")],
    "renderings of a long text": lambda s: [texts(s, "dog " * 2_500, glossary=f"dog\t{MANY}")],
    "renderings of many terms": lambda s: [
        texts(s, "".join(f"d{n:03} " for n in range(150)) * 13, glossary="\n".join(f"d{n:03}\t" + "|".join(f"w{m:03x}" for m in range(99)) for n in range(150)))
    ],
    "two .json of a long key": lambda s: [file(s, "a.json", json.dumps({"k" * 1_900_000 + "_": ["en"] * 99_000}).encode())] * 2,
    # C3: memory
    "paragraph of 23.6 MB": lambda s: [file(s, "a.docx", docx(run("A dog in " * 2_620_000), 300_000))],
    "many paragraphs of 22 MB": lambda s: [file(s, "a.docx", docx(run("a b " * 240_000) * 23, 300_000))],
    # C9: private-use characters
    "placeholders beside private-use characters": lambda s: [texts(s, "{a} dog " * 363 + MARKS)],
    "131,073 placeholders": lambda s: [file(s, "a.txt", b"{a} dog " * 131_073)],
    # Many clients at once
    "lists, 8 at once": lambda s: [Sent(b"/translate", b'{"q":[' + b"[]," * 329_000 + b"[]]}")] * 8,
    "escapes, 8 at once": lambda s: [Sent(b"/translate", b"q=" + b"%41" * 330_000, FORM)] * 8,
    "5 texts of 5,000 lines, 4 at once": lambda s: [texts(s, ["a\n" * 5_000] * 5)] * 4,
    "5,000 lines, 20 at once": lambda s: [texts(s, "a\n" * 5_000)] * 20,
    "999 lines, 20 at once": lambda s: [texts(s, "a\n" * 999)] * 20,
    "50 texts of placeholders, 20 at once": lambda s: [texts(s, ["I see %d. " * 1_000] * 50)] * 20,
    "placeholders, 40 at once": lambda s: [texts(s, "A%s" * 420)] * 40,
    "plain text, 300 at once": lambda s: [texts(s, "a dog sees a cat. " * 500)] * 300,
    "terms that begin alike, 30 at once": lambda s: [
        texts(s, ["abcdefghi " * 900] * 60, glossary="\n".join(f"abcdefgh{n:x}\tx" for n in range(6_500)))
    ] * 30,
}  # fmt: skip


async def watch(server, seen):
    """Ask for /health again and again, and keep the longest time of an answer."""
    while True:
        seconds = ASKED
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(ASKED):
                seconds = await ask_health(server.port)
        seen.health = max(seen.health, seconds)
        await asyncio.sleep(0.05)


async def watch_memory(server, seen):
    while peak := read_memory("VmHWM", server.process.pid):
        seen.memory = peak / 1e6
        if seen.memory > MOST_MEMORY:
            server.process.kill()
            return
        await asyncio.sleep(0.1)


async def send_case(server, sent, seen, patience):
    status = 0
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(patience):
            data = make_request(sent.path, sent.body, sent.kind, b"Connection: close")
            answer = await send(server.port, data)
            status, seen.answer = int(answer[9:12] or 0), answer.partition(b"\r\n\r\n")[2]
    seen.statuses.append(status)


async def observe(server, requests, patience):
    """Send the requests of a case at once, and return what became of them."""
    seen = Seen()
    await ask(server.port, server.body("warm up"))
    watching = [asyncio.ensure_future(w(server, seen)) for w in (watch, watch_memory)]
    started = time.monotonic()
    await asyncio.gather(*(send_case(server, sent, seen, patience) for sent in requests))
    seen.seconds = time.monotonic() - started
    left = quiet = time.monotonic()
    spent = server.seconds()
    while server.process.poll() is None and time.monotonic() < min(left + 15, quiet + 1.5):
        await asyncio.sleep(0.25)
        if server.process.poll() is None and (now := server.seconds()) - spent > 0.15:
            quiet, spent = time.monotonic(), now
        elif server.process.poll() is None:
            spent = now
    seen.after = quiet - left
    for task in watching:
        task.cancel()
    await asyncio.gather(*watching, return_exceptions=True)
    return seen


class Frozen(Campaign):
    """Cases, each on a server of its own."""

    def work(self):
        """Send each case."""
        rows = [
            "| case | status | answered, s | /health, s | memory, MB | worked on, s | ended, s |",
            "|---|---|---|---|---|---|---|",
        ]
        for name in self.options.case:
            seen = self.measure(name)
            statuses = ", ".join(str(status or "none") for status in seen.statuses)
            rows.append(f"| {name} | {statuses} | {seen.seconds:.1f} | {seen.health:.1f} | {seen.memory:,.0f} | {seen.after:.1f} | {seen.ending:.1f} |")  # fmt: skip
        print("", *rows, sep="\n")

    def measure(self, name):
        """Start a server, run a case on it, and end the server."""
        server = Server(self.options.model, "--threads", "1", *self.options.further)
        try:
            seen = asyncio.run(observe(server, CASES[name](server), self.options.patience))
            seen.is_dead = server.process.poll() is not None
            ending = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(Exception):
                server.process.wait(10)
            seen.ending = time.monotonic() - ending
        finally:
            server.process.kill()
            server.process.wait()
        print(f"\n{name}: status {seen.statuses}: {seen.answer[:200].decode('utf-8', 'replace')}")
        failed = "Traceback" in server.text() or "ERROR" in server.text() or 500 in seen.statuses
        self.figure("answered after, s (target <= 10)", seen.seconds, seen.seconds <= 10)
        self.figure("ended before SIGTERM", seen.is_dead, not seen.is_dead)
        self.figure("/health, latest, s (target <= 1)", seen.health, seen.health <= 1)
        self.figure("memory, MB (target <= 1,000)", seen.memory, seen.memory <= 1_000)
        self.figure("answered with 500, or errors in the log", failed, not failed)
        self.figure("worked on after it, s (target <= 2)", seen.after, seen.after <= 2)
        self.figure("from SIGTERM to the end, s (target <= 2)", seen.ending, seen.ending <= 2)
        return seen


if __name__ == "__main__":
    cases = {"nargs": "+", "choices": [*CASES], "default": [*CASES], "metavar": "NAME"}
    Frozen.run(__doc__, {"model": str, "--case": cases, "--patience": 12.0}, passes_on=True)
