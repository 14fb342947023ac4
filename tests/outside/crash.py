"""Kill and stop real training runs at random moments, and compare them with an undisturbed one.

    python tests/outside/crash.py --kills 200 --signals 100 --reads 1000 [--threads 1] [--patience 1.0]

Kills a run (kill -9) at random moments and in the middle of writing, or sends it SIGTERM or SIGINT. Then
reads the checkpoints that are left, resumes the run, and at its end compares it with a run that nothing
happened to: weights, optimizer and metrics must be equal bit by bit. Where a stop takes too
long, the log of the run shows what the process was doing. ``--reads`` is how often a model is loaded while a
training replaces it, and ``--patience`` how many times the promised seconds a stop may take, on a busy machine.
"""

import json
import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.cli.main import main
from headway.errors import HeadwayError
from headway.training.run import run_to_end
from headway.training.steps.trainer import StepReport
from headway.training.storage.checkpoint import read_checkpoint
from headway.translation import load_model
from support.campaign import Campaign, note
from support.processes import spawn, wait
from support.runs import count_steps, digest, opened, words, write_corpus

EVERY = 7
SETTINGS = {
    "text.vocab-size": 350, "model.num-encoder-layers": 1, "model.num-decoder-layers": 1,
    "model.d-model": 48, "model.d-ff": 96, "model.num-heads": 4, "training.batch-tokens": 240,
    "training.micro-batch-tokens": 120, "training.warmup-steps": 40,
    "training.validate-every": 12, "training.checkpoint-every": EVERY, "training.average": 3,
}  # fmt: skip
COMPARED = (
    "metrics.jsonl", "model.safetensors", "best/model.safetensors", "averaged/model.safetensors",
)  # fmt: skip
TIME_LIMIT = 300.0  # seconds; a run that takes longer hangs
START_SECONDS = 3.0  # about what preparation and dry run take
MOST_STEPS = 20  # between two attacks


def train_undisturbed(path, arguments):
    """Train from the first step to the last, and write down what every step's checkpoint is."""
    run = opened(path, ["train", str(path), *arguments])
    assert run is not None
    hashes = {0: digest_both(run.trainer.tensors())}
    for event in run_to_end(run):
        if isinstance(event, StepReport):
            hashes[event.step] = digest_both(run.trainer.tensors())
    (path.parent / "hashes.json").write_text(json.dumps(hashes))


def digest_both(tensors):
    """Return the digests of a checkpoint with optimizer state, and of an older one without."""
    return [digest(tensors), digest({"model": tensors["model"]})]


class Crashes(Campaign):
    """Runs under attack."""

    def work(self):
        """Attack runs until the numbers are reached, and load a model while it is replaced."""
        settings = SETTINGS | {
            "training.threads": self.options.threads,
            "training.max-steps": self.options.steps,
        }
        self.arguments = [*write_corpus(self.folder), *words(settings), "--quiet"]
        self.train_reference()
        attacks = [signal.SIGKILL] * self.options.kills
        attacks += self.luck.choices([signal.SIGTERM, signal.SIGINT], k=self.options.signals)
        self.luck.shuffle(attacks)
        number = 0
        while attacks:
            path = self.folder / f"run-{number}"
            for _ in range(self.luck.randint(3, 8)):
                if not attacks or self.attack(path, attacks[-1]):
                    break
                attacks.pop()
            self.finish_run(path)
            shutil.rmtree(path)
            number += 1
            note(f"{number} runs, {len(attacks)} attacks to come")
        self.read_beside(self.folder / "beside", self.options.reads)

    def train_reference(self):
        """Train a run that nothing happens to, and keep the digests of every step's checkpoint; see `digest_both`."""
        self.reference, log = self.folder / "reference", self.folder / "reference.log"
        child = spawn(lambda: train_undisturbed(self.reference, self.arguments), log)
        if wait(child, TIME_LIMIT):
            sys.exit(log.read_text())
        hashes = json.loads((self.folder / "hashes.json").read_text())
        self.hashes = {int(step): value for step, value in hashes.items()}

    def start_run(self, path):
        """Start a run or go on with one, as a user does."""
        more = [] if (path / "run.json").exists() else self.arguments
        return spawn(lambda: main(["train", str(path), *more]), path.with_suffix(".log"))

    def attack(self, path, kind):
        """Go on with a run and send it a signal somewhere; returns whether it got to its end."""
        child = self.start_run(path)
        where = self.luck.choice(["starting", "training", "training", "writing"])
        limit = self.luck.random() * START_SECONDS if where == "starting" else TIME_LIMIT
        moment = time.monotonic() + limit
        step = count_steps(path) + self.luck.randrange(MOST_STEPS)
        while (code := wait(child, 0.001)) is None and time.monotonic() < moment:
            reached = where != "starting" and count_steps(path) > step
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

    def stop(self, child, kind):
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
        most *= self.options.patience
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

    def inspect(self, path):
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

    def finish_run(self, path):
        """Train to the end and compare with the undisturbed run."""
        for _ in range(2):  # the second time there is nothing left to do
            code = wait(self.start_run(path), TIME_LIMIT)
            self.expect(code == 0, f"{path.name}: exit code {code}, see {path.name}.log")
        self.inspect(path)
        last = f"checkpoints/step-{self.options.steps:08d}"
        tensors = [f"{last}/{name}.safetensors" for name in ("model", "optimizer")]
        self.compare(path, self.reference, (*COMPARED, *tensors))

    def read_beside(self, path, times):
        """Load the model of a run again and again while the run replaces it."""
        child = -1
        while self.counts["loads beside a writer"] < times:
            if child < 0:
                shutil.rmtree(path, ignore_errors=True)
                child = self.start_run(path)
                while not (path / "model.safetensors").exists():
                    time.sleep(0.001)
            load_model(path)  # raises, and so ends the campaign, if it fails
            self.counts["loads beside a writer"] += 1
            if wait(child, 0.0) is not None:
                child = -1
        if child > 0:
            os.kill(child, signal.SIGKILL)
            wait(child, TIME_LIMIT)


def is_writing(path):
    """Whether a file or directory is half-written or half-deleted at this moment."""
    hidden = (entry.name for folder in (path, path / "checkpoints") for entry in folder.glob(".*"))
    return any(name != ".lock" for name in hidden)


if __name__ == "__main__":
    Crashes.run(
        __doc__,
        {
            "--kills": 20,
            "--signals": 0,
            "--reads": 0,
            "--steps": 90,
            "--threads": 1,
            "--seed": 1,
            "--patience": 1.0,
        },
    )
