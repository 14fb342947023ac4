"""Kill ranks of trainings whose number of ranks changes, and compare the runs with undisturbed ones.

    python tests/outside/changing_ranks.py [--runs 20] [--seed 1]

Each training begins with one process, goes on with four and ends with two. In each of these parts one
process is killed (kill -9) at a random moment, and at the end of the first two the training is stopped
(SIGTERM). Every second training has its ranks started by ``torchrun``, which ends when a rank has died, and
the same command is given again; otherwise ``headway train --ranks`` goes on by itself. The trainings are of
the model of ``quick`` and of a base model with two layers, in fp32 and bf16, packed and padded. At the end
weights, optimizer and metrics must be those of a run with one process that nothing happened to, bit by bit.
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
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.runs import write_corpus

STEPS, EVERY = 12, 2
STAGES = {1: 4, 4: 8, 2: STEPS}  # ranks -> the step at which this number of ranks ends
SETTINGS = {
    "text.vocab-size": 350, "training.batch-tokens": 1600, "training.micro-batch-tokens": 200,
    "training.max-steps": STEPS, "training.warmup-steps": 40, "training.validate-every": 6,
    "training.checkpoint-every": EVERY, "training.average": 2, "training.threads": 4,
}  # fmt: skip
MODELS: dict[str, dict[str, object]] = {
    "quick": {"preset": "quick"},
    "base": {"preset": "base", "model.num-encoder-layers": 2, "model.num-decoder-layers": 2},
}
LAST = f"checkpoints/step-{STEPS:08d}"
COMPARED = (
    "metrics.jsonl", "model.safetensors", "best/model.safetensors", "averaged/model.safetensors",
    f"{LAST}/model.safetensors", f"{LAST}/optimizer.safetensors",
)  # fmt: skip
LAUNCHERS = ("headway", "torchrun")
TIME_LIMIT = 60.0  # seconds until a training that lost a rank has ended, or has gone on
PATIENCE = 900.0  # seconds of a training


class Campaign:
    """Trainings under attack, and what came of them.

    Attributes:
        folder: For everything.
        corpus: Arguments of ``headway train`` that name the text.
        luck: Decides who is killed, and when.
        broken: The promises that were broken, a line each.
        counts: What was done.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.corpus = write_corpus(folder, train=1500)
        self.luck = random.Random(seed)
        self.broken: list[str] = []
        self.counts: Counter[str] = Counter()

    def train(
        self, path: Path, settings: dict[str, object], ranks: int, launcher: str
    ) -> "subprocess.Popen[bytes]":
        """Start a training, or go on with it; its messages are added to a file beside it."""
        more = [] if (path / "run.json").exists() else [*self.corpus, *words_of(settings)]
        start = ["-m", "headway"]
        if launcher == "torchrun":
            start = [
                "-m",
                "torch.distributed.run",
                f"--nproc-per-node={ranks}",
                "--standalone",
                *start,
            ]
        else:
            more += ["--ranks", str(ranks)]
        with path.with_suffix(".log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *start, "train", str(path), "--quiet", *more],
                stderr=log, stdout=log, env=os.environ | {"OMP_NUM_THREADS": "1"},
            )  # fmt: skip

    def attack(self, path: Path, settings: dict[str, object], launcher: str) -> None:
        """Train with changing numbers of ranks, each of which loses a process and is stopped later."""
        named = 0  # signals that a message must name
        for ranks, last in STAGES.items():
            process = self.train(path, settings, ranks, launcher)
            wait_for_step(path, self.luck.randrange(steps_of(path), last), process)
            time.sleep(self.luck.random() * 0.1)
            victim = self.kill_one(process, ranks)
            named += victim not in (None, process.pid)
            if victim == process.pid or (victim and launcher == "torchrun"):
                code = process.wait(TIME_LIMIT)
                self.expect(code != 0, f"{path.name}: exit code 0 after a kill")
                process = self.train(path, settings, ranks, launcher)
            wait_for_step(path, last, process)
            if last < STEPS:
                process.terminate()
            code = process.wait(PATIENCE)
            self.expect(
                code == (143 if last < STEPS else 0) or (launcher == "torchrun" and last < STEPS),
                f"{path.name}: exit code {code} with {ranks} ranks",
            )
            if last < STEPS:
                done = steps_of(path)
                self.expect(done <= last + EVERY, f"{path.name}: step {done} with {ranks} ranks")
        log = path.with_suffix(".log").read_text()
        killed = [line for line in log.splitlines() if "SIGKILL" in line]
        self.expect(len(killed) >= named, f"{path.name}: does not name the signals of killed ranks")
        # torchrun prints a traceback of its own when a rank fails.
        unexpected = launcher != "torchrun" and "Traceback" in log
        self.expect(not unexpected, f"{path.name}: a traceback")

    def kill_one(self, process: "subprocess.Popen[bytes]", ranks: int) -> int | None:
        """Kill a rank, or the command if it has no ranks (yet); returns which, or None if it has ended."""
        if process.poll() is not None:
            return None
        victim = self.luck.choice(ranks_of(process.pid) or [process.pid])
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        self.counts[f"processes of {ranks} killed"] += 1
        return victim

    def compare(self, path: Path, reference: Path) -> None:
        """Compare a finished run with the undisturbed one."""
        for name in COMPARED:
            same = (path / name).read_bytes() == (reference / name).read_bytes()
            self.expect(same, f"{path.name}: {name} differs from the undisturbed run's")
        self.counts["runs compared"] += 1

    def expect(self, holds: bool, otherwise: str) -> None:
        """Note a broken promise."""
        if not holds:
            self.broken.append(otherwise)
            print(otherwise, flush=True)


def words_of(settings: dict[str, object]) -> list[str]:
    """Return settings as a command line has them."""
    return [word for name, value in settings.items() for word in (f"--{name}", str(value))]


def ranks_of(process: int) -> list[int]:
    """Return the ranks that a launcher has started and that have not ended."""
    found = []
    with suppress(OSError):
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            line = Path(f"/proc/{child}/cmdline").read_text()
            if "spawn_main" in line or "\0train\0" in line:
                found.append(int(child))
    return found


def steps_of(path: Path) -> int:
    """Return the last step in a run's log."""
    log = path / "metrics.jsonl"
    return log.read_bytes().count(b'"event": "step"') if log.exists() else 0


def wait_for_step(path: Path, step: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a run has logged a step, or has ended."""
    while process.poll() is None and steps_of(path) < step:
        time.sleep(0.002)


def main() -> int:
    """Attack the runs and print what was done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20, help="trainings")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    options = parser.parse_args()
    kinds = list(product(MODELS, ("fp32", "bf16"), ("true", "false")))
    with tempfile.TemporaryDirectory() as name:
        campaign = Campaign(Path(name), options.seed)
        for number in range(options.runs):
            model, precision, packed = kinds[number % len(kinds)]
            settings = MODELS[model] | SETTINGS
            settings |= {"training.precision": precision, "training.packed": packed}
            reference = campaign.folder / "-".join((model, precision, packed))
            if not reference.exists():
                start = campaign.train(reference, settings, 1, "headway")
                if start.wait(PATIENCE):
                    sys.exit(reference.with_suffix(".log").read_text())
            path = campaign.folder / f"run-{number}-{reference.name}"
            campaign.attack(path, settings, LAUNCHERS[(number + number // len(kinds)) % 2])
            campaign.compare(path, reference)
            print(f"{path.name}: compared", file=sys.stderr, flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(campaign.counts.items())))
    print(f"{len(campaign.broken)} promises broken")
    return bool(campaign.broken)


if __name__ == "__main__":
    sys.exit(main())
