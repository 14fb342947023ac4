"""Thousands of requests made up from the server's own description, by Schemathesis.

    python3 -m venv build/fuzz && build/fuzz/bin/pip install schemathesis==4.32.5
    python tests/outside/serving_fuzz.py MODEL --schemathesis build/fuzz/bin/schemathesis [--examples 1500]

It must find no 5xx and no answer that the description does not name; memory may grow by 20 MB. Left out are
checks that a form cannot pass: in it everything is text, so wrong types look right, and a language pair that
is not served makes a request that fits the schema be refused.
"""

import argparse
import json
import subprocess

from serving_process import Server

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,unsupported_method"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--schemathesis", default="schemathesis")
    parser.add_argument("--examples", type=int, default=1500, help="of each operation")
    parser.add_argument("--first", type=int, default=300, help="of each, before memory is measured")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    server = Server(args.model)
    try:
        spec = server.log.with_suffix(".json")
        spec.write_text(json.dumps(server.get("/spec")))
        command = [args.schemathesis, "run", str(spec), "--url", server.url, "--checks", CHECKS]
        # A first round warms up: the first attention maps and languages take memory once.
        first = ["--max-examples", str(args.first), "--seed", "0"]
        subprocess.run([*command, *first], check=False, stdout=subprocess.DEVNULL)
        before = server.metrics()["process_resident_memory_bytes"]
        command += ["--max-examples", str(args.examples), "--seed", str(args.seed)]
        code = subprocess.run(command, check=False).returncode
        found = server.metrics()
        grown = found["process_resident_memory_bytes"] - before
        requests = server.metric("headway_requests_total")
        failed = sum(v for n, v in found.items() if 'status="5' in n and "requests_total" in n)
        print(
            f"requests {requests:.0f}, of them 5xx {failed:.0f}, memory growth {grown / 1e6:.1f} MB"
        )
    finally:
        server.stop()
    raise SystemExit(code or failed > 0 or grown > 20e6)


if __name__ == "__main__":
    main()
