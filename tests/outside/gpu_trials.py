"""Run experiments of `headway reproduce` on one GPU, many trainings at once.

    python tests/outside/gpu_trials.py runs/paper --train train.en train.de --valid valid.en valid.de --test test.en test.de
        [--scale hours] [--only table3 smoothing] [--leave scaling rivals] [--workers 15] [--seconds 560]

Each experiment has a process, which counts and times what needs no training, hands its trainings to the workers, and waits
for them. A worker trains one model after the other, so that it starts CUDA and compiles kernels once. What is finished
when the time is over stays, and `headway reproduce` with the same --out, --scale, --device and text goes on from there.
NVIDIA's MPS should run (`nvidia-cuda-mps-control -d`), so that the kernels of several processes run side by side.
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import PriorityQueue

from headway.errors import HeadwayError
from headway.ext.paper.reproduction import ALL, reproduce, write_report
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.study import Study
from headway.ext.paper.running.trial import read_trial
from headway.ext.paper.running.trial_run import run_trial
from headway.training.machine import configure_process

# They train on processors, or their padded micro-batches are slow on a GPU, or they take longest of all.
LEFT = ["feed_forward", "table4", "classification", "scaling", "rivals", "neural_gpu"]
PAUSE = 0.2  # seconds between two looks for a finished training
FAILED = "failed"  # the name of a file in the directory of a training that failed


class Handing(Study):
    """Hands the trainings of an experiment to the workers, by lines on standard output, and waits for them."""

    def run_trials(self, planned):
        """Return the trials when all are done."""
        waiting = self.prepare_trials(planned)
        for directory, plan in waiting.items():
            print(f"{plan.effort}\t{directory}", flush=True)
        while any(read_trial(d) is None and not (d / FAILED).exists() for d in waiting):
            time.sleep(PAUSE)
        if failed := [directory.name for directory in waiting if read_trial(directory) is None]:
            raise HeadwayError(f"{self.experiment}: trainings that failed: {', '.join(failed)}")
        return super().run_trials(planned)


class Workers:
    """The workers of a GPU, and the trainings that wait for them: those with the most effort come first."""

    def __init__(self, workers, deadline):
        self._deadline = deadline
        self._waiting: PriorityQueue[tuple[float, str]] = PriorityQueue()
        self._known: set[str] = set()
        self._guard = threading.Lock()
        self._threads = [threading.Thread(target=self._train_in_turn) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def close(self):
        """End each worker after its last training."""
        for _ in self._threads:
            self._waiting.put((0.0, ""))
        for thread in self._threads:
            thread.join()

    def run(self, command):
        """Run an experiment's process, and take the trainings that it hands over."""
        with self._start(command) as process:
            assert process.stdout is not None
            for line in process.stdout:
                effort, _, directory = line.rstrip("\n").partition("\t")
                with self._guard:  # several experiments may need the same training
                    if directory not in self._known:
                        self._known.add(directory)
                        self._waiting.put((-float(effort), directory))

    def _train_in_turn(self):
        """Be the parent of workers, one after another dies."""
        directory = self._waiting.get()[1]
        while directory and time.monotonic() < self._deadline:
            with self._start([sys.executable, __file__, "--worker"]) as worker:
                assert worker.stdin is not None
                assert worker.stdout is not None
                is_alive = True
                while directory and is_alive:
                    worker.stdin.write(f"{directory}\n")
                    worker.stdin.flush()
                    answer = worker.stdout.readline().rstrip()
                    is_alive = bool(answer)
                    if read_trial(Path(directory)) is None:
                        (Path(directory) / FAILED).touch()
                    print(f"{Path(directory).name}: {answer or 'not finished'}", flush=True)
                    directory = self._waiting.get()[1]
                worker.stdin.close()

    def _start(self, command):
        """Start a process that is killed when the time is over."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        )
        timer = threading.Timer(max(0.0, self._deadline - time.monotonic()), process.kill)
        timer.daemon = True
        timer.start()
        return process


def work_off():
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
        except Exception as error:  # whatever it is, the GPU's time goes to the next model
            found = f"failed: {error!r}".replace("\n", " ")
        answers.write(f"{found}, {time.monotonic() - started:.0f} s\n")


def main():
    """Run the experiments, as far as the time allows."""
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
    parser.add_argument("--leave", nargs="+", default=LEFT)
    for part in ("train", "valid", "test"):
        parser.add_argument(f"--{part}", nargs="+", default=[])
    parser.add_argument("--workers", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=560)
    parser.add_argument("--experiment", help=argparse.SUPPRESS)
    args = parser.parse_args()
    corpus = Bitext.read(args.train, args.valid, args.test) if args.train else None
    place = (args.out, args.scale)
    if args.experiment:
        configure_process()
        handing = Handing(*place, show=print_aside, corpus=corpus, device=args.device)
        reproduce(args.experiment, handing)
        return
    started = time.monotonic()
    work = Study(*place, corpus=corpus, device=args.device)
    work.corpus.prepare(args.out / "data", work.base.text)  # once, before several need it
    for mark in args.out.glob(f"trials/*/{FAILED}"):
        mark.unlink()
    workers = Workers(args.workers, started + args.seconds)
    runs = [
        threading.Thread(
            target=workers.run,
            args=([sys.executable, __file__, *sys.argv[1:], "--experiment", name],),
        )
        for name in args.only
        if name not in args.leave
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    workers.close()
    print(f"{write_report(work)}, after {time.monotonic() - started:.0f} s")


def print_aside(text):
    """Show a line of progress where no line is taken for a training."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
