"""Kill ranks of ``torchrun`` and worker processes of trainings, and compare the runs with undisturbed ones.

    python tests/outside/killed_processes.py [--ranks 20] [--workers 20] [--seed 1]

A training whose rank was killed (kill -9) ends within 60 seconds with a message and no traceback of Headway;
the same command resumes it to the same metrics and weights. A training goes on when a worker process was
killed once; when a worker is killed again and again it ends with a message, and resumes to the same result.
The exit code is 1 if a promise is broken. Nothing but headway is needed.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.runs import SETTINGS, write_corpus

STEPS = 30
COMPARED = ("metrics.jsonl", "model.safetensors", "best/model.safetensors")
TORCHRUN = ["-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
TIME_LIMIT = 60.0  # seconds until a training that lost a process has ended
BROKEN: list[str] = []


def train_command(path: Path, corpus: list[str], ranks: int) -> list[str]:
    """Return the command that starts or resumes a training."""
    changes: dict[str, object] = {"training.max-steps": STEPS, "training.validate-every": 15}
    if ranks == 1:  # a share of a step needs 500 tokens to be worth a worker process
        changes |= {"training.threads": 2, "training.batch-tokens": 3000}
        changes |= {"training.micro-batch-tokens": 1500}
    settings = [f"--{name}={value}" for name, value in (SETTINGS | changes).items()]
    start = TORCHRUN if ranks > 1 else []
    more = [] if (path / "run.json").exists() else [*corpus, *settings]
    return [sys.executable, *start, "-m", "headway", "train", str(path), "--quiet", *more]


def start(path: Path, corpus: list[str], ranks: int) -> "subprocess.Popen[bytes]":
    """Start a training; its messages are added to a file beside the run."""
    with path.with_suffix(".log").open("ab") as log:
        return subprocess.Popen(train_command(path, corpus, ranks), stderr=log, stdout=log)


def children(process: int) -> list[int]:
    """Return the processes that a process has started and that have not ended."""
    file = Path(f"/proc/{process}/task/{process}/children")
    with suppress(OSError):
        return [int(word) for word in file.read_text().split()]
    return []


def wait_for_steps(path: Path, count: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a run has logged so many steps, or has ended."""
    log = path / "metrics.jsonl"
    while process.poll() is None:
        if log.exists() and log.read_bytes().count(b'"event": "step"') >= count:
            return
        time.sleep(0.002)


def expect(holds: bool, otherwise: str) -> None:
    """Note a broken promise."""
    if not holds:
        BROKEN.append(otherwise)
        print(otherwise, flush=True)


def compare(path: Path, reference: Path, what: str) -> None:
    """Compare a finished run with the undisturbed one."""
    for name in COMPARED:
        same = (path / name).read_bytes() == (reference / name).read_bytes()
        expect(same, f"{what}: {name} differs from the undisturbed run's")


def attack(
    path: Path, reference: Path, corpus: list[str], ranks: int, luck: random.Random
) -> Counter[str]:
    """Kill a rank, a worker once, or workers until the training ends; then resume and compare."""
    counts: Counter[str] = Counter()
    process = start(path, corpus, ranks)
    wait_for_steps(path, luck.randrange(1, STEPS - 1), process)
    time.sleep(luck.random() * 0.02)
    is_repeated = ranks == 1 and luck.random() < 0.5
    killed_at = time.monotonic()
    kills = 0
    while process.poll() is None and (is_repeated or not kills):
        for child in luck.sample(found := children(process.pid), min(1, len(found))):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
                kills += 1
        time.sleep(0.01)
        expect(is_alive := time.monotonic() - killed_at < 2 * TIME_LIMIT, f"{path.name} hangs")
        if not is_alive:
            break
    try:
        code = process.wait(TIME_LIMIT)
    except subprocess.TimeoutExpired:
        expect(False, f"{path.name}: runs on {TIME_LIMIT} s after a kill")
        process.kill()
        code = process.wait()
    log = path.with_suffix(".log").read_text()
    what = "ranks killed" if ranks > 1 else "workers killed" + " repeatedly" * is_repeated
    counts[what] += min(kills, 1)
    own = [line for line in log.splitlines() if line.startswith(("[rank", "headway: "))]
    expect(not any("Traceback" in line for line in own), f"{path.name}: a traceback: {own[:3]}")
    if ranks == 1:
        expect("Traceback" not in log, f"{path.name}: a traceback, see {path.name}.log")
        expect(is_repeated or code == 0, f"{path.name}: exit code {code}: {log[-300:]}")
        if code:
            said = "a worker process of this training ended" in log
            expect(said, f"{path.name}: does not name the reason: {log[-300:]}")
    elif kills:
        expect(code != 0 and "SIGKILL" in log, f"{path.name}: exit code {code}: {log[-300:]}")
    for _ in range(3):
        if start(path, corpus, ranks).wait(600) == 0:
            break
    compare(path, reference, what)
    return counts


def main() -> int:
    """Run both campaigns and print what was done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ranks", type=int, default=20, help="trainings that lose a rank")
    parser.add_argument("--workers", type=int, default=20, help="trainings that lose a worker")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    options = parser.parse_args()
    luck, counts = random.Random(options.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = write_corpus(folder, train=600)
        for ranks, number in ((2, options.ranks), (1, options.workers)):
            reference = folder / f"reference-{ranks}"
            if number and start(reference, corpus, ranks).wait(600):
                sys.exit(reference.with_suffix(".log").read_text())
            for case in range(number):
                path = folder / f"run-{ranks}-{case}"
                counts += attack(path, reference, corpus, ranks, luck)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    print(f"{len(BROKEN)} promises broken")
    return bool(BROKEN)


if __name__ == "__main__":
    sys.exit(main())
