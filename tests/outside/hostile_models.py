"""Models of every format with a hostile number or file, each loaded or imported in a child process.

    python tests/outside/hostile_models.py [--every N]

Each field of each JSON file gets values of any kind and size, each file gets contents that are small on
disk and large in memory. A model is accepted or refused in one line, within 5 seconds of the processor and
200 MB more than its files, measured beside an ordinary load. The exit code is 1 if a promise is broken.
Nothing but headway with its extra `export` and its tests is needed.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.config import TextConfig
from headway.text.tokenizer import Tokenizer
from support.hostile_models import list_cases, measure, try_case, write_models
from support.mutations import Outcome, memory
from support.toy_models import sentences, translate_words, write_random_model

MAX_BYTES = 4 << 30  # of a child, so that a broken promise does not take the machine


def work(folder: Path, first: int, every: int) -> None:
    """Be the child: a line for each case as it begins, and one for what came of it."""
    pairs = [(text, translate_words(text)) for text in sentences(400, 1)]
    tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=331))
    formats = write_models(write_random_model(folder / "random", tokenizer), folder)
    for name, model in formats.items():
        assert measure(model, name, folder).what == "accepted", name
    limit = int(memory("VmSize") * 1e6) + MAX_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    cases = list_cases(formats)
    for number in range(first, len(cases), every):
        case = cases[number]
        print(json.dumps([number, f"{case.format} {case.file}: {case.what}"]), flush=True)
        print(json.dumps([number, *try_case(case, formats, folder)]), flush=True)


def main() -> int:
    """Run children until all cases are done; one that dies is replaced by another."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try each Nth case")
    parser.add_argument("--child", type=int, metavar="FIRST", help="be a child")
    args = parser.parse_args()
    if args.child is not None:
        with tempfile.TemporaryDirectory() as name:
            work(Path(name), args.child, args.every)
        return 0
    started, counts, broken = time.monotonic(), Counter[str](), 0
    slowest, largest = (0.0, ""), (0.0, "")
    first, done = 0, False
    while not done:
        command = [sys.executable, __file__, "--child", str(first), "--every", str(args.every)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        what = ""
        for line in child.stdout:
            number, *rest = json.loads(line)
            first = number + args.every
            if len(rest) == 1:
                what = rest[0]
                continue
            outcome = Outcome(*rest)
            kind = outcome.what.partition(":")[0]
            counts[kind] += 1
            slowest = max(slowest, (outcome.seconds, what))
            largest = max(largest, (outcome.megabytes, what))
            is_bad = kind not in ("refused", "accepted")
            if is_bad or outcome.seconds > 5 or outcome.megabytes > 200:
                broken += 1
                print(f"{what}: {outcome}", flush=True)
            what = ""
        done = child.wait() == 0
        if not done:
            if not what:
                raise SystemExit(f"a child ended with {child.returncode} between two cases")
            broken += 1
            print(f"{what}: the process ended with {child.returncode}", flush=True)
    for kind, number in counts.most_common():
        print(f"{kind:<50} {number}")
    print(f"{'most seconds of the processor (target <= 5)':<50} {slowest[0]:.2f} {slowest[1]}")
    print(f"{'most memory above the files, MB (target <= 200)':<50} {largest[0]:.0f} {largest[1]}")
    print(f"{'promises broken':<50} {broken}")
    print(f"{'seconds':<50} {time.monotonic() - started:.0f}")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
