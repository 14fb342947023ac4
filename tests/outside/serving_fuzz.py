"""Thousands of requests made up from the server's own description, by Schemathesis.

    python3 -m venv build/fuzz && build/fuzz/bin/pip install schemathesis==4.32.5
    python tests/outside/serving_fuzz.py MODEL --schemathesis build/fuzz/bin/schemathesis [--examples 1500]

It must find no 5xx and no answer that the description does not name; memory may grow by 20 MB. Left out are
checks that a form cannot pass: in it everything is text, so wrong types look right, and a language pair that
is not served makes a request that fits the schema be refused.
"""

import json
import subprocess

from serving_process import Server

from support.campaign import Campaign

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,unsupported_method"


class Fuzzing(Campaign):
    """A server, and the program that makes requests for it."""

    def work(self):
        """Send the requests."""
        options = self.options
        server = Server(options.model)
        try:
            spec = server.log.with_suffix(".json")
            spec.write_text(json.dumps(server.get("/spec")))
            command = [
                options.schemathesis,
                "run",
                str(spec),
                "--url",
                server.url,
                "--checks",
                CHECKS,
            ]
            # A first round warms up: the first attention maps and languages take memory once.
            first = ["--max-examples", str(options.first), "--seed", "0"]
            subprocess.run([*command, *first], check=False, stdout=subprocess.DEVNULL)
            before = server.metrics()["process_resident_memory_bytes"]
            command += ["--max-examples", str(options.examples), "--seed", str(options.seed)]
            self.expect(not subprocess.run(command, check=False).returncode, "a check has failed")
            found = server.metrics()
            grown = found["process_resident_memory_bytes"] - before
            failed = sum(v for n, v in found.items() if 'status="5' in n and "requests_total" in n)
            self.figure("requests", server.metric("headway_requests_total"))
            self.figure("of them 5xx", failed, failed == 0)
            self.figure("memory growth, MB", grown / 1e6, grown <= 20e6)
        finally:
            server.stop()


if __name__ == "__main__":
    numbers = {"--examples": 1500, "--first": 300, "--seed": 1}  # examples of each operation
    Fuzzing.run(__doc__, {"model": str, "--schemathesis": "schemathesis", **numbers})
