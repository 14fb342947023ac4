"""Thousands of generated requests to DeepL's addresses and to those of files, checked against the description.

    python tests/outside/interface_campaign.py MODEL [--requests 10000]

Half of the requests are sound and must succeed; half are damaged. No answer may have a status above 499, but the
503 of a document that is not done, or be other than `/spec` says; memory may grow by 40 MB, because the translated
documents of half an hour are kept. MODEL translates English to German and has a `quality.json`.
"""

import http.client
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from serving_process import Server

from support.campaign import Campaign
from support.interface_requests import Answer, Conversation

SHORT = ("--search.max-extra", "3", "--search.beam", "1", "--server.file-jobs", "20")
MOST_GROWTH = 40e6


class Interfaces(Campaign):
    """A server and its one client."""

    def work(self) -> None:
        """Send the requests one after the other."""
        server = Server(self.options.model, *SHORT)
        try:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

            def send(method: str, address: str, headers: dict[str, str], body: bytes) -> Answer:
                connection.request(method, address, body or None, headers)
                answer = connection.getresponse()
                content = answer.read()
                named = {name.lower(): value for name, value in answer.getheaders()}
                return answer.status, named, content

            conversation = Conversation(send, self.options.seed)
            before = 0.0
            for number in range(self.options.requests):
                if number == self.options.requests // 5:  # the first ones warm up
                    before = server.metric("process_resident_memory_bytes")
                conversation.ask()
            grown = server.metric("process_resident_memory_bytes") - before
        finally:
            server.stop()
        for (_, _, status), count in conversation.statuses.items():
            self.counts[f"answers with {status}"] += count
        print(f"memory growth {grown / 1e6:.1f} MB")
        self.expect(grown <= MOST_GROWTH, "memory grows")


if __name__ == "__main__":
    Interfaces.run(__doc__, {"model": str, "--requests": 10_000, "--seed": 1})
