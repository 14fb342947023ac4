"""Kill ranks of trainings whose number of ranks changes, and compare the runs with undisturbed ones.

    python tests/outside/changing_ranks.py [--runs 20] [--seed 1]

Each training begins with one process, goes on with four and ends with two. In each of these parts one
process is killed (kill -9) at a random moment, and at the end of the first two the training is stopped
(SIGTERM). Every second training has its ranks started by ``torchrun``, which ends when a rank has died, and
the same command is given again; otherwise ``headway train --ranks`` goes on by itself. The trainings are of
the model of ``quick`` and of a base model with two layers, in fp32 and, where the processor has it, bf16, packed and padded. At the end
weights, optimizer and metrics must be those of a run with one process that nothing happened to, bit by bit.
Nothing but headway is needed.
"""

import sys
import time
from itertools import product
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.devices import has_bf16
from support.campaign import Campaign, note, wait_until
from support.processes import children, command_line
from support.runs import count_steps, words, write_corpus

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


class Trainings(Campaign):
    """Trainings under attack."""

    def work(self):
        """Attack trainings of all kinds in turn."""
        # Without instructions for it, a step of base in bf16 takes minutes.
        precisions = ("fp32", "bf16") if has_bf16(torch.device("cpu")) else ("fp32",)
        kinds = list(product(MODELS, precisions, ("true", "false")))
        self.corpus = write_corpus(self.folder, train=1500)
        for number in range(self.options.runs):
            model, precision, packed = kinds[number % len(kinds)]
            settings = MODELS[model] | SETTINGS
            settings |= {"training.precision": precision, "training.packed": packed}
            reference = self.folder / "-".join((model, precision, packed))
            if not reference.exists():
                process = self.train(reference, settings, 1, "headway")
                self.finish(process, reference.with_suffix(".log"), PATIENCE)
            path = self.folder / f"run-{number}-{reference.name}"
            self.attack(path, settings, LAUNCHERS[(number + number // len(kinds)) % 2])
            self.compare(path, reference, COMPARED)
            note(f"{path.name}: compared")

    def train(self, path, settings, ranks, launcher):
        """Start a training, or go on with it; its messages are added to a file beside it."""
        more = [] if (path / "run.json").exists() else [*self.corpus, *words(settings)]
        torchrun = ["-m", "torch.distributed.run", f"--nproc-per-node={ranks}", "--standalone"]
        more += [] if launcher == "torchrun" else ["--ranks", str(ranks)]
        return self.start(
            "train", path, "--quiet", *more, log=path.with_suffix(".log"),
            launcher=torchrun if launcher == "torchrun" else (), OMP_NUM_THREADS="1",
        )  # fmt: skip

    def attack(self, path, settings, launcher):
        """Train with changing numbers of ranks, each of which loses a process and is stopped later."""
        named = 0  # signals that a message must name
        for ranks, last in STAGES.items():
            process = self.train(path, settings, ranks, launcher)
            wait_for_step(path, self.luck.randrange(count_steps(path), last), process)
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
                done = count_steps(path)
                self.expect(done <= last + EVERY, f"{path.name}: step {done} with {ranks} ranks")
        log = path.with_suffix(".log").read_text()
        killed = [line for line in log.splitlines() if "SIGKILL" in line]
        self.expect(len(killed) >= named, f"{path.name}: does not name the signals of killed ranks")
        # torchrun prints a traceback of its own when a rank fails.
        unexpected = launcher != "torchrun" and "Traceback" in log
        self.expect(not unexpected, f"{path.name}: a traceback")

    def kill_one(self, process, ranks):
        """Kill a rank, or the command if it has no ranks (yet); returns which, or None if it has ended."""
        if process.poll() is not None:
            return None
        victim = self.luck.choice(ranks_of(process.pid) or [process.pid])
        self.kill(victim)
        self.counts[f"processes of {ranks} killed"] += 1
        return victim


def ranks_of(process):
    """Return the ranks that a launcher has started and that have not ended."""
    lines = {child: command_line(child) for child in children(process)}
    return [child for child, line in lines.items() if "spawn_main" in line or "\0train\0" in line]


def wait_for_step(path, step, process):
    """Wait until a run has logged a step, or has ended."""
    wait_until(
        lambda: process.poll() is not None or count_steps(path) >= step, PATIENCE, f"step {step}"
    )


if __name__ == "__main__":
    Trainings.run(__doc__, {"--runs": 20, "--seed": 1})
