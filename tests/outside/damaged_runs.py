"""2,000 run directories damaged at random, each resumed in a child process.

    python tests/outside/damaged_runs.py [--count 2000] [--seed 1]

A file is missing, empty, truncated or a directory, has flipped bits or nonsense in its JSON, or has the place of
another file. The resume ends with the weights of the undisturbed run, or says in one line why not: no
traceback, no silent difference. The exit code is 1 if one of them breaks this. Only headway is needed.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.run_damage import resume_damaged, write_runs


def main() -> int:
    """Damage and resume; print each broken promise and the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    started, counts, broken = time.monotonic(), Counter[str](), 0
    with tempfile.TemporaryDirectory() as name:
        whole, stopped = write_runs(Path(name))
        first = args.seed * 1_000_000
        for number in range(first, first + args.count):
            case = resume_damaged(number, whole, stopped, Path(name))
            counts[case.outcome] += 1
            if not case.is_right:
                broken += 1
                print(f"{number}: {case.damage}: {case.outcome}\n{case.log}", flush=True)
            if not (number + 1) % 100:
                print(f"{number + 1 - first} done", file=sys.stderr, flush=True)
    for outcome, count in counts.most_common():
        print(f"{outcome:<40} {count}")
    print(f"{'broken':<40} {broken}")
    print(f"{'seconds':<40} {time.monotonic() - started:.0f}")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
