"""Compare what two checkouts of Headway answer: ``python tests/record --before CHECKOUT``.

Each section asks both sides the same by the command and by HTTP, and writes the answers to files. A difference that
is not listed in ``changes.toml`` fails. ``python tests/record --store`` writes what does not depend on the processor
to ``stored``, with which ``tests/test_record.py`` compares.
"""

import argparse
import importlib
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from compare import CHANGES, read_changes, report
from side import Side

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SECTIONS = ("help", "prepared", "scores", "training", "lines", "exports", "files", "server")
STORED = ("help", "prepared", "scores", "server")
# The older side trains two models, which both sides use: English to German, and a smaller one of both directions.
# They need not be good, but their translations must differ from line to line.
RECIPE = (
    "--training.precision", "fp32", "--training.threads", "1", "--training.batch-tokens", "1000",
    "--training.warmup-steps", "100", "--training.validate-every", "200",
)  # fmt: skip
DEMO = ("--pairs", "30000", "--no-browser", "--training.max-steps", "450", "--training.cool-steps", "200")  # fmt: skip
BOTH = (
    "--preset", "tiny", "--text.vocab-size", "2000", "--model.d-model", "64", "--model.d-ff", "256",
    "--model.num-encoder-layers", "2", "--model.num-decoder-layers", "2", "--training.packed", "true",
    "--training.max-steps", "300", "--training.rate-scale", "1", "--training.cool-steps", "150", "--valid", "100",
)  # fmt: skip


def main():
    """Record both sides, compare them and return the exit code."""
    parser = argparse.ArgumentParser(prog="python tests/record", description=__doc__)
    parser.add_argument("--before", type=Path, help="a checkout of the older version")
    parser.add_argument("--after", type=Path, default=ROOT, help="of the newer (default: this)")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, metavar="SECTION")
    parser.add_argument("--changes", type=Path, default=CHANGES, help="those that are meant")
    parser.add_argument("--work", type=Path, default=Path("build/record"))
    parser.add_argument("--store", action="store_true", help="write tests/record/stored anew")
    args = parser.parse_args()
    if args.store:
        return store(Side("after", args.after.resolve()))
    if not args.before:
        parser.error("give --before CHECKOUT, or --store")
    work = args.work.resolve()
    sides = [
        Side(name, checkout.resolve(), work / "cache" / name)
        for name, checkout in (("before", args.before), ("after", args.after))
    ]
    for side in sides:
        shutil.rmtree(work / "cache" / side.name / "models", ignore_errors=True)
    model = make_models(sides[0], work)
    for section in args.only:
        started = time.monotonic()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda side, name=section: record(name, side, model, work), sides))
        print(f"{section}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    lines = report(work / "before", work / "after", args.only, read_changes(args.changes))
    print(*lines, sep="\n", end="\n" if lines else "")
    print(f"{len(lines)} differences that are not listed", file=sys.stderr)
    return int(bool(lines))


def make_models(side, work):
    """Train the models that both sides use, unless they are there.

    Returns:
        The directory ``model``. Beside it are its corpus, ``model-text``, and ``both``, a model of both directions.
    """
    model, done = work / "model", work / "both" / "done"
    if not done.exists():
        work.mkdir(parents=True, exist_ok=True)
        text = [work / "model-text" / f"train.{language}" for language in ("en", "de")]
        groups = ["--train", "en-de", *text, "--train", "de-en", *reversed(text)]
        for words in (
            ["demo", model, *DEMO],
            ["train", done.parent, *groups, "--ranks", "1", "--quiet", *BOTH],
        ):
            answer = side.run(*words, *RECIPE)
            if answer.code:
                sys.exit(answer.err.decode())
        done.touch()
    return model


def record(section, side, model, work):
    """Write the answers of a side to the questions of a section."""
    out = work / side.name / section
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    importlib.import_module(section).record(side, model, out)


def store(side):
    """Write what does not depend on the processor to the directory with which the tests compare."""
    for section in STORED:
        out = HERE / "stored" / section
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        importlib.import_module(section).record_stored(side, out)
    print("git diff --stat tests/record/stored", file=sys.stderr)
    return subprocess.run(["git", "diff", "--stat", HERE / "stored"], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
