"""Kill and stop real training runs at random moments, and compare them with an undisturbed one.

    python tests/outside/crash.py --kills 200 --signals 100 --reads 1000

Kills a run (kill -9) at random moments and in the middle of writing, or sends it SIGTERM or SIGINT. Then
reads the checkpoints that are left, resumes the run, and at its end compares it with a run that nothing
happened to: weights, optimizer and metrics must be equal bit by bit. Where a stop takes too
long, the log of the run shows what the process was doing. Prints a line of figures; exits with 1 if any
promise was broken.
"""

import argparse
import faulthandler
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.cli.main import main
from headway.errors import HeadwayError
from headway.training.loop import run_to_end
from headway.training.steps.trainer import StepReport
from headway.training.storage.checkpoint import Tensors, read_checkpoint
from headway.translation import load_model
from support.runs import digest, opened, write_corpus

STEPS, EVERY = 90, 7
SETTINGS = {
    "text.vocab-size": 350, "model.num-encoder-layers": 1, "model.num-decoder-layers": 1,
    "model.d-model": 48, "model.d-ff": 96, "model.num-heads": 4, "training.batch-tokens": 240,
    "training.micro-batch-tokens": 120, "training.max-steps": STEPS, "training.warmup-steps": 40,
    "training.validate-every": 12, "training.checkpoint-every": EVERY, "training.average": 3,
}  # fmt: skip
COMPARED = (
    "metrics.jsonl", "model.safetensors", "best/model.safetensors", "averaged/model.safetensors",
    "checkpoints/step-00000090/model.safetensors",
    "checkpoints/step-00000090/optimizer.safetensors",
)  # fmt: skip
TIME_LIMIT = 300.0  # seconds; a run that takes longer hangs
START_SECONDS = 3.0  # about what preparation and rehearsal take
MOST_STEPS = 20  # between two attacks


def spawn(log: Path, work: Callable[[], object]) -> int:
    """Do ``work`` in a child process; torch is imported already, so it starts at once."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        with log.open("a") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        faulthandler.register(signal.SIGUSR1)
        # A shell starts background commands with SIGINT ignored, and children inherit that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        work()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def wait(child: int, limit: float) -> int | None:
    """Return a child's exit code, negative for a signal; None if it takes longer than the limit."""
    end = time.monotonic() + limit
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            return None
        time.sleep(0.001)


def train_undisturbed(path: Path, arguments: list[str]) -> None:
    """Train from the first step to the last, and write down what every step's checkpoint is."""
    run = opened(path, ["train", str(path), *arguments])
    assert run is not None
    hashes = {0: digest_both(run.trainer.tensors())}
    for event in run_to_end(run):
        if isinstance(event, StepReport):
            hashes[event.step] = digest_both(run.trainer.tensors())
    (path.parent / "hashes.json").write_text(json.dumps(hashes))


def digest_both(tensors: Mapping[str, Tensors]) -> list[str]:
    """Return the digests of a checkpoint with optimizer state, and of an older one without."""
    return [digest(tensors), digest({"model": tensors["model"]})]


@dataclass
class Campaign:
    """Runs under attack, and what came of them.

    Attributes:
        folder: For everything.
        arguments: Of ``headway train``, after RUN.
        luck: Decides when and how.
        patience: How many times the promised seconds a stop may take, on a busy machine.
        hashes: Of every step's checkpoint, undisturbed; see `digest_both`.
        broken: The promises that were broken, a line each.
        counts: What was done and seen.
    """

    folder: Path
    arguments: list[str]
    luck: random.Random
    patience: float = 1.0
    hashes: dict[int, list[str]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def reference(self) -> Path:
        """The run that nothing happens to."""
        return self.folder / "reference"

    def train_reference(self) -> None:
        """Train it."""
        log = self.folder / "reference.log"
        child = spawn(log, lambda: train_undisturbed(self.reference, self.arguments))
        if wait(child, TIME_LIMIT):
            sys.exit(log.read_text())
        hashes = json.loads((self.folder / "hashes.json").read_text())
        self.hashes = {int(step): value for step, value in hashes.items()}

    def start(self, path: Path) -> int:
        """Start a run or go on with one, as a user does."""
        more = [] if (path / "run.json").exists() else self.arguments
        words = ["train", str(path), *more]
        return spawn(path.with_suffix(".log"), lambda: main(words))

    def attack(self, path: Path, kind: signal.Signals) -> bool:
        """Go on with a run and send it a signal somewhere; returns whether it got to its end."""
        child = self.start(path)
        where = self.luck.choice(["starting", "training", "training", "writing"])
        limit = self.luck.random() * START_SECONDS if where == "starting" else TIME_LIMIT
        moment = time.monotonic() + limit
        step = steps_taken(path) + self.luck.randrange(MOST_STEPS)
        while (code := wait(child, 0.001)) is None and time.monotonic() < moment:
            reached = where != "starting" and steps_taken(path) > step
            if reached and (where == "training" or is_writing(path)):
                time.sleep(self.luck.random() * 0.02)
                break
        if code is None:
            code = self.stop(child, kind)
            # Before training begins, the system's own way of ending a process is as good;
            # 0: it came to its end by itself at that moment.
            expected = {-kind, 128 + kind, 0}
            self.expect(code in expected, f"{path.name}: exit code {code} after {kind.name}")
            self.counts[f"{kind.name} while {where}"] += 1
        else:
            self.expect(code == 0, f"{path.name}: exit code {code}, see {path.name}.log")
        self.inspect(path)
        return code == 0

    def stop(self, child: int, kind: signal.Signals) -> int | None:
        """Send a signal, a second Ctrl-C sometimes; returns the exit code."""
        os.kill(child, kind)
        started = time.monotonic()
        is_repeated = kind == signal.SIGINT and self.luck.random() < 0.3
        if is_repeated:
            time.sleep(self.luck.random() * 0.02)
            with suppress(ProcessLookupError):
                os.kill(child, kind)
            started = time.monotonic()
        name, most = ("end after a second Ctrl-C", 1.0) if is_repeated else ("stop", 5.0)
        most *= self.patience
        code = wait(child, most / 2)
        if code is None:
            os.kill(child, signal.SIGUSR1)  # its stack goes into the log
            code = wait(child, TIME_LIMIT)
        seconds = time.monotonic() - started
        if kind != signal.SIGKILL:
            self.counts[f"ms of the slowest {name}"] = max(
                self.counts[f"ms of the slowest {name}"], round(1000 * seconds)
            )
            self.expect(seconds <= most, f"{name} took {seconds:.1f} s after {kind.name}")
        return code

    def inspect(self, path: Path) -> None:
        """Look at what is left: every checkpoint whole and of one step, little work lost."""
        newest, can_resume = -1, False
        for checkpoint in sorted((path / "checkpoints").glob("step-*")):
            step = int(checkpoint.name.removeprefix("step-"))
            newest = max(newest, step)
            try:
                tensors, state = read_checkpoint(checkpoint)
            except HeadwayError as error:
                self.expect(False, f"unusable: {error}")
                continue
            right = digest(tensors) in self.hashes[step] and state["step"] == step
            self.expect(right, f"{checkpoint}: not the checkpoint of step {step}")
            self.counts["checkpoints read"] += 1
            can_resume = "optimizer" in tensors
        self.expect(newest < 0 or can_resume, f"{path}: the newest checkpoint has no optimizer")
        metrics = path / "metrics.jsonl"
        if metrics.exists():
            lost = metrics.read_text().count('"event": "step"') - max(newest, 0)
            self.expect(lost <= EVERY, f"{path}: {lost} steps lost")
        if (path / "model.safetensors").exists():
            load_model(path)  # raises, and so ends the campaign, if it is not whole
            self.counts["models read"] += 1

    def finish(self, path: Path) -> None:
        """Train to the end and compare with the undisturbed run."""
        for _ in range(2):  # the second time there is nothing left to do
            code = wait(self.start(path), TIME_LIMIT)
            self.expect(code == 0, f"{path.name}: exit code {code}, see {path.name}.log")
        self.inspect(path)
        for name in COMPARED:
            same = (path / name).read_bytes() == (self.reference / name).read_bytes()
            self.expect(same, f"{path / name}: not equal to the undisturbed run's")
        leftovers = list(path.rglob(".tmp-*"))
        self.expect(not leftovers, f"{path}: left behind {leftovers}")
        self.counts["runs compared"] += 1

    def read_beside(self, path: Path, times: int) -> None:
        """Load the model of a run again and again while the run replaces it."""
        child = -1
        while self.counts["loads beside a writer"] < times:
            if child < 0:
                shutil.rmtree(path, ignore_errors=True)
                child = self.start(path)
                while not (path / "model.safetensors").exists():
                    time.sleep(0.001)
            load_model(path)  # raises, and so ends the campaign, if it fails
            self.counts["loads beside a writer"] += 1
            if wait(child, 0.0) is not None:
                child = -1
        if child > 0:
            os.kill(child, signal.SIGKILL)
            wait(child, TIME_LIMIT)

    def expect(self, holds: bool, otherwise: str) -> None:
        """Note a broken promise."""
        if not holds:
            self.broken.append(otherwise)
            print(otherwise, file=sys.stderr, flush=True)


def steps_taken(path: Path) -> int:
    """Return the number of steps in a run's log."""
    log = path / "metrics.jsonl"
    return log.read_bytes().count(b'"event": "step"') if log.exists() else 0


def is_writing(path: Path) -> bool:
    """Whether a file or directory is half-written or half-deleted at this moment."""
    hidden = (entry.name for folder in (path, path / "checkpoints") for entry in folder.glob(".*"))
    return any(name != ".lock" for name in hidden)


def run_campaign(
    kills: int, signals: int, reads: int, threads: int, seed: int, patience: float
) -> Campaign:
    """Attack runs until the numbers are reached."""
    folder = Path(tempfile.mkdtemp(prefix="headway-crash-"))
    words = [word for name, value in SETTINGS.items() for word in (f"--{name}", str(value))]
    words += ["--training.threads", str(threads), "--quiet"]
    campaign = Campaign(folder, [*write_corpus(folder), *words], random.Random(seed), patience)
    campaign.train_reference()
    attacks = [signal.SIGKILL] * kills
    attacks += [campaign.luck.choice([signal.SIGTERM, signal.SIGINT]) for _ in range(signals)]
    campaign.luck.shuffle(attacks)
    number = 0
    while attacks:
        path = folder / f"run-{number}"
        for _ in range(campaign.luck.randint(3, 8)):
            before = len(attacks)
            if attacks and not campaign.attack(path, attacks[-1]):
                attacks.pop()
            elif attacks and before:
                break
        campaign.finish(path)
        shutil.rmtree(path)
        number += 1
        print(f"{number} runs, {len(attacks)} attacks to come", file=sys.stderr, flush=True)
    campaign.read_beside(folder / "beside", reads)
    if not campaign.broken:
        shutil.rmtree(folder)
    return campaign


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20, help="kill -9")
    parser.add_argument("--signals", type=int, default=0, help="SIGTERM or SIGINT")
    parser.add_argument("--reads", type=int, default=0, help="loads of a model while it trains")
    parser.add_argument("--threads", type=int, default=1, help="processor threads of a run")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument(
        "--patience", type=float, default=1.0, help="times the promised seconds of a stop"
    )
    options = parser.parse_args()
    done = run_campaign(
        options.kills,
        options.signals,
        options.reads,
        options.threads,
        options.seed,
        options.patience,
    )
    print(", ".join(f"{count} {what}" for what, count in sorted(done.counts.items())))
    print(f"{len(done.broken)} promises broken")
    sys.exit(bool(done.broken))
