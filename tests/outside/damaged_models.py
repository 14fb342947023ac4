"""10,000 model directories damaged at random, each loaded and used in a child process.

    python tests/outside/damaged_models.py [--count 10000] [--seed 1] [--model DIRECTORY]

No signal, no hang, no error but HeadwayError, nothing executed or written, at most 5 seconds of the processor
and 200 MB more than the files. Without a model a small one with random weights is made. The exit code is 1 if
a promise is broken. Nothing but headway and its tests is needed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.config import TextConfig
from headway.text.tokenizer import Tokenizer
from support.mutations import Outcome, damaged
from support.toy_models import sentences, translate_words, write_random_model


def work(model: Path, folder: Path, first: int, end: int) -> None:
    """Be the child: a line for each case as it begins, and one for what came of it."""
    for number in range(first, end):
        print(json.dumps([number]), flush=True)
        what, outcome = damaged(model, folder, number)
        print(json.dumps([number, what, *outcome]), flush=True)


def small_model(folder: Path) -> Path:
    """Write a model with random weights."""
    pairs = [(text, translate_words(text)) for text in sentences(400, 1)]
    tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=331))
    return write_random_model(folder / "random", tokenizer)


def main() -> int:
    """Run children until all cases are done; one that dies is replaced by another."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--child", nargs=3, metavar=("FOLDER", "FIRST", "END"), help="be a child")
    args = parser.parse_args()
    if args.child:
        work(args.model, Path(args.child[0]), int(args.child[1]), int(args.child[2]))
        return 0
    started, counts, broken = time.monotonic(), Counter[str](), []
    slowest = largest = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = args.model or small_model(folder)
        first, errors = args.seed * 1_000_000, folder / "errors"
        at, end = first, first + args.count
        while at < end:
            command = [
                sys.executable,
                __file__,
                "--model",
                str(model),
                "--child",
                f"{name}/child",
                str(at),
                str(end),
            ]
            child = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors.open("w"), text=True
            )
            assert child.stdout is not None
            begun = False
            for line in child.stdout:
                number, *rest = json.loads(line)
                begun = not rest
                if rest:
                    at, outcome = number + 1, Outcome(*rest[1:])
                    kind = outcome.what.partition(":")[0]
                    counts[kind] += 1
                    if not at % 1_000:
                        print(f"{at - first} done", file=sys.stderr, flush=True)
                    slowest = max(slowest, outcome.seconds)
                    largest = max(largest, outcome.megabytes)
                    bad = kind not in ("refused", "translated")
                    if bad or outcome.seconds > 5 or outcome.megabytes > 200:
                        broken.append(f"{number}: {rest[0]}: {outcome}")
                        print(broken[-1], flush=True)
            if child.wait() != 0 and begun:
                counts[f"ended by {child.returncode}"] += 1
                last = errors.read_text(errors="replace").strip().rpartition("\n")[2]
                broken.append(f"{at}: the process ended with {child.returncode}: {last[:200]}")
                print(broken[-1], flush=True)
                at += 1
            elif child.returncode != 0:
                raise SystemExit(errors.read_text(errors="replace"))
    for kind, number in counts.most_common():
        print(f"{kind:<40} {number}")
    print(f"{'most seconds of the processor (target <= 5)':<44} {slowest:.2f}")
    print(f"{'most memory above the files, MB (target <= 200)':<47} {largest:.0f}")
    print(f"{'seconds':<40} {time.monotonic() - started:.0f}")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
