"""Compare the requests of many clients with batches of the same lines, and measure single requests.

    python benchmarks/serving.py MODEL --text FILE [--clients 32] [--lines 2000] [--cores 1]

The model translates the lines in batches of 32, as ``headway translate`` would; then a server with the
same cores answers clients that each send one line after the other. The clients run on other cores,
where there are any.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def find_free_port() -> int:
    """Return an unused port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Client:
    """One connection that sends one request after another."""

    def __init__(self, port: int, languages: tuple[str, str]) -> None:
        self.port, self.languages = port, languages

    async def open(self) -> None:
        """Connect."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, line: str) -> tuple[float, str]:
        """Translate a line; return the seconds that it took and the text."""
        source, target = self.languages
        body = json.dumps({"q": line, "source": source, "target": target}).encode()
        started = time.perf_counter()
        self.writer.write(
            b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body) + body
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        [length] = [h for h in head.lower().split(b"\r\n") if h.startswith(b"content-length")]
        answer = await self.reader.readexactly(int(length.split(b":")[1]))
        return time.perf_counter() - started, str(json.loads(answer)["translatedText"])


async def run_clients(
    port: int, languages: tuple[str, str], lines: list[str], clients: int
) -> tuple[float, list[float], list[str]]:
    """Send each line by one of the clients; return the seconds in all and of each request, and the texts."""
    waiting = iter(enumerate(lines))
    times: list[float] = []
    texts = [""] * len(lines)

    async def one() -> None:
        client = Client(port, languages)
        await client.open()
        for number, line in waiting:
            seconds, texts[number] = await client.ask(line)
            times.append(seconds)
        client.writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(clients)))
    return time.perf_counter() - started, times, texts


def translate_in_batches(
    model: str, lines: list[str], threads: int
) -> tuple[float, float, list[str]]:
    """Translate lines in batches of 32; return the seconds, the seconds of a single line, and the texts."""
    import torch

    from headway.translation import Translator

    torch.set_num_threads(threads)
    translator = Translator.load(model)
    translator.translate("1")

    def batch(at: int) -> list[str]:
        return [found[0].text for found in translator.stream(lines[at : at + 32])]

    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        texts = [text for some in pool.map(batch, range(0, len(lines), 32)) for text in some]
    together = time.perf_counter() - started
    alone = []
    for line in lines[:100]:
        started = time.perf_counter()
        translator.translate(line)
        alone.append(time.perf_counter() - started)
    return together, statistics.median(alone), texts


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--text", required=True, help="a file with a sentence on each line")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3, help="turns; the medians are printed")
    args = parser.parse_args()
    lines = Path(args.text).read_text(encoding="utf-8").splitlines()[: args.lines]
    config = json.loads((Path(args.model) / "config.json").read_text(encoding="utf-8"))
    source, target = config["languages"]
    languages = source, target
    all_cores = sorted(os.sched_getaffinity(0))
    ours = set(all_cores[: args.cores])
    others = set(all_cores[args.cores :]) or set(all_cores)
    rows = []
    for _ in range(args.repeat):
        os.sched_setaffinity(0, ours)
        together, alone, texts = translate_in_batches(args.model, lines, args.cores)
        port = find_free_port()
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "headway",
                "serve",
                args.model,
                "--port",
                str(port),
                "--server.split-sentences",
                "false",
            ],
            stderr=subprocess.DEVNULL,
        )
        os.sched_setaffinity(0, others)
        try:
            wait_for_server(port)
            asyncio.run(run_clients(port, languages, lines[:200], args.clients))  # warm
            seconds, times, found = asyncio.run(run_clients(port, languages, lines, args.clients))
            _, single, _ = asyncio.run(run_clients(port, languages, lines[:100], 1))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
        same = sum(a == b for a, b in zip(texts, found, strict=True))
        rows.append(
            {
                "batches, lines/s": len(lines) / together,
                "server, lines/s": len(lines) / seconds,
                "server / batches": together / seconds,
                "median answer, ms": 1000 * statistics.median(times),
                "answer to a single client, ms": 1000 * statistics.median(single),
                "the same line without a server, ms": 1000 * alone,
                "added by the server for a single client, ms": 1000
                * (statistics.median(single) - alone),
                "texts the same": same / len(lines),
            }
        )
    for name in rows[0]:
        print(f"{name:<44}{statistics.median(row[name] for row in rows):10.2f}")


def wait_for_server(port: int) -> None:
    """Wait until the server answers."""
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not start")


if __name__ == "__main__":
    main()
