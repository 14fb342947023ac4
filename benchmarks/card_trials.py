"""Train what `headway reproduce` needs on one card, several models at once.

    python benchmarks/card_trials.py runs/paper --train train.en train.de --valid valid.en valid.de --test test.en test.de
        [--scale hours] [--only table3 smoothing] [--leave scaling rivals] [--workers 15] [--seconds 560]

Each worker trains one model after the other, so that it starts CUDA and compiles kernels once. What is finished when the
time is over stays, and `headway reproduce` with the same --out, --scale, --device and text goes on from there.
NVIDIA's MPS should run (`nvidia-cuda-mps-control -d`), so that the kernels of several processes run side by side.
"""

import argparse
import contextlib
import importlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from queue import Empty, SimpleQueue

from headway.paper.reproduction import ALL, Experiment
from headway.paper.running.bitext import Bitext
from headway.paper.running.plan import PlannedTrial
from headway.paper.running.trial import Trial, read_trial
from headway.paper.running.trial_run import run_trial
from headway.paper.running.work import Work
from headway.training.machine import configure_process


class Planned(Exception):
    """Ends an experiment where its trainings would begin."""


class Planner(Work):
    """Collects the trainings of experiments that are not done, and trains nothing."""

    @cached_property
    def found(self) -> dict[Path, PlannedTrial]:
        """What is to be trained on the device, by directory."""
        return {}

    def run_trials(self, planned: Sequence[PlannedTrial]) -> list[Trial]:
        """Collect the trainings, and end the experiment."""
        for directory, plan in self.prepare_trials(planned).items():
            if plan.config.training.device == self.device:
                self.found[directory] = plan
        raise Planned


def plan_trials(work: Planner, names: Sequence[str]) -> list[Path]:
    """Return the directories of the trainings of experiments, the longest first."""
    for name in names:
        work.experiment = name
        experiment: Experiment = importlib.import_module(f"headway.paper.experiments.{name}")  # type: ignore[assignment]
        with contextlib.suppress(Planned):
            experiment.run(work)
    return sorted(work.found, key=lambda directory: -work.found[directory].effort)


def train_in_turn(waiting: SimpleQueue[Path], deadline: float) -> None:
    """Start a worker, and let it train one model after the other until none is left or the time is over."""
    command = [sys.executable, __file__, "--worker"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        stop = threading.Timer(max(0.0, deadline - time.monotonic()), worker.kill)
        stop.start()
        # No model is left, or the worker was killed.
        with contextlib.suppress(Empty, BrokenPipeError):
            answer = "ready"
            while answer:
                directory = waiting.get_nowait()
                worker.stdin.write(f"{directory}\n")
                worker.stdin.flush()
                answer = worker.stdout.readline()
                print(f"{directory.name}: {answer.rstrip() or 'not finished'}", flush=True)
        stop.cancel()


def work_off() -> None:
    """Be a worker: read a directory from each line of standard input and train its model; a failure ends only that one."""
    configure_process()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a training prints is no answer
    for line in sys.stdin:
        directory, started = Path(line.strip()), time.monotonic()
        try:
            run_trial(directory)
            trial = read_trial(directory)
            found = trial and f"{trial.name}, seed {trial.seed}: {trial.scores}"
        except Exception as error:  # whatever it is, the card's time goes to the next model
            found = f"failed: {error!r}".replace("\n", " ")
        answers.write(f"{found}, {time.monotonic() - started:.0f} s\n")


def main() -> None:
    """Plan all trainings, and train as many as the time allows."""
    if sys.argv[1:] == ["--worker"]:
        work_off()
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--scale", default="hours")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", nargs="+", default=ALL)
    parser.add_argument("--leave", nargs="+", default=["scaling", "rivals"])
    for part in ("train", "valid", "test"):
        parser.add_argument(f"--{part}", nargs="+", default=[])
    parser.add_argument("--workers", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=560)
    args = parser.parse_args()
    deadline = time.monotonic() + args.seconds
    corpus = Bitext.read(args.train, args.valid, args.test) if args.train else None
    work = Planner(args.out, args.scale, corpus=corpus, device=args.device)
    directories = plan_trials(work, [name for name in args.only if name not in args.leave])
    count = len(directories)
    waiting: SimpleQueue[Path] = SimpleQueue()
    for directory in directories:
        waiting.put(directory)
    print(f"{count} trainings", flush=True)
    threads = [
        threading.Thread(target=train_in_turn, args=(waiting, deadline))
        for _ in range(min(args.workers, count))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = sum(read_trial(directory) is not None for directory in work.found)
    print(f"{done} of {count} are done after {args.seconds - deadline + time.monotonic():.0f} s")


if __name__ == "__main__":
    main()
