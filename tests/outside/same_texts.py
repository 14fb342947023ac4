"""The server answers as the library translates: requests of all kinds, compared text by text.

    python tests/outside/same_texts.py MODEL [--cases 2000] [--seed 1]

MODEL translates English to German, and was calibrated (`headway evaluate --calibrate`).
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from starlette.testclient import TestClient

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.ext.server.app import make_app
from headway.ext.server.models import load_models
from headway.ext.server.server import Server
from support.same_texts import ask, make_cases, plain_search, translate


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    models = load_models([args.model])
    translator = models.pairs["en", "de"]
    search, same, broken = plain_search(translator), Counter[str](), 0
    with TestClient(make_app(Server(models))) as client:
        for case in make_cases(args.cases, args.seed):
            answered, expected = ask(client, case), translate(translator, case, search)
            same[case.kind] += answered == expected
            if answered != expected:
                broken += 1
                print(f"{case}\n  server:  {answered!r}\n  library: {expected!r}")
    print(", ".join(f"{kind} {count}" for kind, count in same.items()))
    print(f"the same text in {same.total()} of {args.cases} cases")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
