"""2,000 run directories damaged at random, each resumed in a child process.

    python tests/outside/damaged_runs.py [--count 2000] [--seed 1] [--messages]

The run was stopped, or is finished. Any file or directory of it is missing, empty, cut,
changed, unreadable, a link, a pipe, of another type, or that of another run; or there is one too many. The
resume ends with the weights, settings and vocabulary of the undisturbed run, or says in one line why not: no
traceback, no silent difference. After every fifth refusal, the damaged files are put back, and the run must
resume exactly. The exit code is 1 if one of them breaks this. Only headway is needed.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.damaged_resumption import DamagedRuns


def main() -> int:
    """Damage and resume; print each broken promise and the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--messages", action="store_true", help="print each different message")
    args = parser.parse_args()
    started, counts, broken = time.monotonic(), Counter[str](), 0
    messages = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        runs = DamagedRuns(Path(name))
        first = args.seed * 1_000_000
        for number in range(first, first + args.count):
            case = runs.resume(number)
            counts[case.outcome] += 1
            messages.update(case.messages)
            if not case.is_right:
                broken += 1
                print(f"{number}: {case.damage}: {case.outcome}\n{case.log}", flush=True)
            if not (number + 1) % 100:
                print(f"{number + 1 - first} done", file=sys.stderr, flush=True)
    for message, count in messages.most_common() if args.messages else ():
        print(f"{count:>5} {message}")
    for outcome, count in counts.most_common():
        print(f"{outcome:<40} {count}")
    print(f"{'broken':<40} {broken}")
    print(f"{'seconds':<40} {time.monotonic() - started:.0f}")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
