"""Thousands of generated requests to DeepL's addresses and to those of files, checked against the description.

    python tests/outside/interface_campaign.py MODEL [--requests 10000]

Half of the requests are sound and must succeed; half are damaged. No answer may have a status above 499, but the
503 of a document that is not done, or be other than `/spec` says; memory may grow by 40 MB, because the translated
documents of half an hour are kept. MODEL translates English to German and has a `quality.json`.
"""

import argparse
import http.client
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from serving_process import Server

from support.interface_requests import Answer, Conversation

SHORT = (
    "--search.max-extra",
    "3",
    "--search.beam",
    "1",
    "--server.file-jobs",
    "20",
)
MOST_GROWTH = 40e6


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    server = Server(args.model, *SHORT)
    started = time.monotonic()
    try:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

        def send(method: str, address: str, headers: dict[str, str], body: bytes) -> Answer:
            connection.request(method, address, body or None, headers)
            answer = connection.getresponse()
            content = answer.read()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, named, content

        conversation = Conversation(send, args.seed)
        before = 0.0
        for number in range(args.requests):
            if number == args.requests // 5:  # the first ones warm up
                before = server.metrics()["process_resident_memory_bytes"]
            conversation.ask()
        grown = server.metrics()["process_resident_memory_bytes"] - before
    finally:
        server.stop()
    statuses = Counter[int]()
    for (_, _, status), count in conversation.statuses.items():
        statuses[status] += count
    print(f"requests {args.requests}, seconds {time.monotonic() - started:.0f}")
    print("answers", dict(sorted(statuses.items())))
    print(f"memory growth {grown / 1e6:.1f} MB")
    raise SystemExit(grown > MOST_GROWTH)


if __name__ == "__main__":
    main()
