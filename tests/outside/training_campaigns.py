"""Promises of training that no crash is needed for; each campaign prints a figure.

    python tests/outside/training_campaigns.py nan writers seed [--count N] [--seed 1]

nan        NaN or infinity in the gradients of 50 random steps: each is skipped, and no checkpoint has it
writers    100 second trainings of one run: all are refused; after kill -9 the lock is free
seed       10 trainings with random PYTHONHASHSEED in other directories: one vocabulary, the same weights
           and metrics

Nothing but headway is needed.
"""

import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.cli.main import main
from headway.errors import HeadwayError
from headway.training.run import run_to_end
from headway.training.steps.trainer import StepReport
from headway.training.storage.run_directory import RunDirectory
from support.campaign import Campaign
from support.processes import fork, spawn, wait
from support.runs import WEIGHTS, command, opened, write_corpus

COUNTS = {"nan": 50, "writers": 100, "seed": 10}


class Trainings(Campaign):
    """The campaigns."""

    def work(self):
        """Do those that the arguments name."""
        for name in self.options.campaigns:
            folder = self.folder / name
            folder.mkdir()
            print(getattr(self, f"try_{name}")(folder, self.options.count or COUNTS[name]))

    def try_nan(self, folder, count):
        """Write a number that is not finite into a gradient at random steps of a training."""
        steps = 4 * count
        path = folder / "run"
        poisoned = set(self.luck.sample(range(1, steps + 1), count))
        run = opened(path, command(path, write_corpus(folder), training__max_steps=steps))
        assert run is not None
        compute = run.trainer.compute

        def poison(batch, tokens):
            gradient = compute(batch, tokens)
            if run.trainer.steps in poisoned:
                tensor = self.luck.choice(gradient[:-1])
                tensor.view(-1)[self.luck.randrange(tensor.numel())] = float(
                    self.luck.choice(["nan", "inf", "-inf"])
                )
            return gradient

        run.trainer.compute = poison
        skipped: set[int] = set()
        read: set[int] = set()
        for event in run_to_end(run):
            if isinstance(event, StepReport) and event.skipped:
                skipped.add(event.step)
            for step in set(run.directory.steps()) - read:
                read.add(step)
                tensors, _ = run.directory.load(step, run.record.identity)
                finite = all(t.isfinite().all() for t in tensors["model"].values())
                self.expect(finite, f"the checkpoint of step {step} is not finite")
        run.directory.unlock()
        self.expect(skipped == poisoned, f"skipped {sorted(skipped)}, not {sorted(poisoned)}")
        return (
            f"{count} steps were not finite, {len(skipped)} skipped; {len(read)} checkpoints read"
        )

    def try_writers(self, folder, count):
        """Start second trainings in the directory of a training that goes on."""
        path, other = folder / "run", f"{os.getpid()}"
        run = opened(path, command(path, write_corpus(folder)))
        assert run is not None
        next(iter(run_to_end(run)))
        refused = Counter[str]()
        for number in range(count):
            try:
                RunDirectory(path).lock()
            except HeadwayError as error:
                refused["in time" if other in str(error) else str(error)] += 1
            if number == 0:
                log = folder / "log"
                code = wait(spawn(lambda: main(["train", str(path)]), log), 60)
                named = f"process {other} is at work here already" in log.read_text()
                self.expect(code == 1 and named, f"the command: {log.read_text()}")
        run.directory.unlock()
        self.expect(refused["in time"] == count, f"refused: {refused}")
        for _number in range(max(1, count // 10)):
            receiver, sender = multiprocessing.Pipe(duplex=False)
            holder = fork(hold, path, sender)
            assert receiver.recv() == "locked"
            holder.kill()
            holder.join()
            directory = RunDirectory(path)
            directory.lock()  # raises, and so ends the campaign, if kill -9 left it locked
            directory.unlock()
        return f"{refused['in time']} of {count} second trainings refused; the lock is free after kill -9"

    def try_seed(self, folder, count):
        """Train the same run in several processes."""
        corpus = write_corpus(folder)
        digests: dict[str, set[str]] = {
            name: set() for name in (*WEIGHTS, "metrics.jsonl", "tokenizer.model")
        }
        for number in range(count):
            path = folder / f"run-{self.luck.randrange(10**6)}-{number}"
            subprocess.run(
                [sys.executable, "-m", "headway", *command(path, corpus)],
                env=os.environ | {"PYTHONHASHSEED": str(self.luck.randrange(2**32))},
                check=True,
            )
            for name, found in digests.items():
                found.add(hashlib.sha256((path / name).read_bytes()).hexdigest())
            assert json.loads((path / "run.json").read_text())["finished"]
        differing = [name for name, found in digests.items() if len(found) > 1]
        self.expect(not differing, f"differ between trainings: {differing}")
        return f"{count} trainings: {len(differing)} of {len(digests)} files differ"


def hold(path, sender):
    """Lock a run, report it, and wait."""
    directory = RunDirectory(path)
    directory.lock()
    sender.send("locked")
    time.sleep(60)


if __name__ == "__main__":
    names = {"nargs": "+", "choices": COUNTS}
    Trainings.run(__doc__, {"campaigns": names, "--count": 0, "--seed": 1})
