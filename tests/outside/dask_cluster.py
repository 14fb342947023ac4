"""Prepare and translate on a cluster of Dask of which a machine is killed twice, and compare every byte.

    python tests/outside/dask_cluster.py MODEL LINES SOURCE TARGET [--copies 10] [--lines 1000000]

SOURCE and TARGET are plain or compressed text files of the same number of lines. So many copies of them are
prepared, and MODEL translates so many lines, which are those of the text file LINES, repeated: with two worker
processes, and by a cluster. The cluster has two machines, which are network namespaces of this one, joined by a
cable, with processes of their own. The scheduler, the command and a worker are on the first one, and a worker is on
the second one, which loses all of its processes (kill -9) twice and comes back each time. The files must be equal.
Then the scheduler is killed in the middle of a translation: the command must say so in one line, and the same command
without the cluster must finish with the same bytes. This needs Linux, root, and the programs ``ip`` and ``unshare``.
"""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import chain, islice, repeat
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from kills import OPTIONS, write_copies
from two_machines import MACHINES, machines

from headway.text.lines import open_bytes
from support.campaign import Campaign, list_files, note, wait_until

PORT = 29418
FIRST, SECOND = MACHINES
BACK = 2.0  # seconds until a machine that was killed comes back
Process = subprocess.Popen[bytes]


class Cluster(Campaign):
    """Work on large text by two machines."""

    def work(self):
        """Do the same work with two processes and on the cluster, and compare."""
        self.log = self.folder / "log"
        self.files = write_copies(self.options.texts, self.folder, self.options.copies)
        self.lines = self.folder / "lines"
        with open_bytes(self.options.text) as text, self.lines.open("wb") as file:
            file.writelines(
                islice(chain.from_iterable(repeat(text.readlines())), self.options.lines)
            )
        for start in (self.prepare, self.translate):
            out = self.folder / f"{start.__name__}-alone"
            began = time.monotonic()
            self.finish(start(out, "--workers", 2), self.log)
            alone = time.monotonic() - began
            with self.cluster():
                seconds = self.disturb(start, self.folder / f"{start.__name__}-cluster", alone)
            note(f"{start.__name__}: {alone:.0f} s by two workers, {seconds:.0f} s by the cluster")
        self.lose_scheduler(self.folder / "translate-lost", alone)

    def prepare(self, out, *workers, launcher=""):
        """Start to prepare the text."""
        return self.begin(launcher, "prepare", out, "--train", *self.files, *OPTIONS, *workers)

    def translate(self, out, *workers, launcher=""):
        """Start to translate the lines."""
        files = ["--input", self.lines, "--output", out]
        search = ["--search.beam", 1, "--threads", 2]
        return self.begin(launcher, "translate", self.options.model, *files, *search, *workers)

    def begin(self, launcher, *words):
        """Start a command of Headway; what it prints is added to the log."""
        command = [*launcher.split(), sys.executable, "-m", "headway", *map(str, words)]
        with self.log.open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    @contextmanager
    def cluster(self):
        """Start the scheduler and the workers; the block may replace them in `machines`."""
        with machines():
            scheduler = ["scheduler", "--host", MACHINES[FIRST], "--port", str(PORT)]
            self.machines = {"scheduler": self.start_dask(FIRST, *scheduler, "--no-dashboard")}
            for name in MACHINES:
                self.machines[name] = self.start_worker(name)
            try:
                yield
            finally:
                for process in self.machines.values():
                    process.kill()
                    process.wait()

    def start_worker(self, name):
        """Start the worker of a machine, in a process and memory of its own."""
        address = f"tcp://{MACHINES[FIRST]}:{PORT}"
        folder = ["--local-directory", str(self.folder / f"dask-{name}")]
        return self.start_dask(
            name, "worker", address, "--nthreads", "1", "--no-dashboard", *folder
        )

    def start_dask(self, name, *words):
        """Start a command of Dask on a machine. Everything that it starts ends with it."""
        inside = f"ip netns exec {name} unshare --pid --fork --kill-child --mount-proc"
        command = [*inside.split(), sys.executable, "-m", "dask", *words]
        with (self.folder / f"{name}.log").open("ab") as log:
            variables = {"OMP_NUM_THREADS": "1"}
            return subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | variables)

    def give_to_cluster(self, start, out):
        """Start work that the cluster does."""
        address = f"tcp://{MACHINES[FIRST]}:{PORT}"
        return start(out, "--cluster", address, launcher=f"ip netns exec {FIRST}")

    def disturb(self, start, out, alone):
        """Let the cluster do work and lose its second machine twice; return the seconds that it took."""
        began = time.monotonic()
        process = self.give_to_cluster(start, out)
        for _ in range(2):
            time.sleep(self.luck.uniform(0.1, 0.4) * alone)
            self.expect(process.poll() is None, f"{out.name}: ended before it was disturbed")
            self.machines[SECOND].kill()
            self.machines[SECOND].wait()
            self.counts["machines killed"] += 1
            time.sleep(BACK)
            self.machines[SECOND] = self.start_worker(SECOND)
        self.finish(process, self.log)
        seconds = time.monotonic() - began
        self.compare_with_alone(out)
        return seconds

    def lose_scheduler(self, out, alone):
        """Kill the scheduler in the middle of a translation, and finish without the cluster."""
        with self.cluster():
            process = self.give_to_cluster(self.translate, out)
            time.sleep(0.4 * alone)
            before = self.log.stat().st_size
            self.machines["scheduler"].kill()
            began = time.monotonic()
            wait_until(lambda: process.poll() is not None, 120.0, "the end without a scheduler")
            note(f"ended {time.monotonic() - began:.1f} s after the scheduler")
        said = [
            line
            for line in self.log.read_bytes()[before:].decode().splitlines()
            if line.startswith("headway: ")
        ]
        note(*said)
        self.expect(process.returncode == 1, f"{process.returncode} without a scheduler")
        self.expect(len(said) == 1, f"said without a scheduler: {said}")
        self.finish(self.translate(out, "--workers", 2), self.log)
        self.compare_with_alone(out)

    def compare_with_alone(self, out):
        """Check that a result has the bytes of the one that two worker processes made."""
        alone = out.with_name(f"{out.name.partition('-')[0]}-alone")
        self.compare(out, alone, list_files(out, alone))


if __name__ == "__main__":
    Cluster.run(
        __doc__,
        {
            "model": Path,
            "text": Path,
            "texts": {"nargs": 2, "type": Path, "metavar": "FILE"},
            "--copies": 10,
            "--lines": 1_000_000,
            "--seed": 1,
        },
    )
