"""Train on two machines that lose each other, and compare the runs with those of one process.

    python tests/outside/two_machines.py [--ranks 2] [--seed 1]

The machines are network namespaces of this one, joined by a cable (a veth pair), with processes of their own:
they share the disk, but no memory. ``torchrun --nnodes 2`` trains on both. In one training all processes of a
machine are killed at once, first on the second machine and then on the first; in another the cable is cut, once
during the steps. After each disturbance both sides must end by themselves in time, and the same command goes on.
At the end weights, optimizer and metrics must be those of a run with one process that nothing happened to, bit by
bit. The exit code is 1 if a promise is broken. This needs Linux, root, and the programs ``ip`` and ``unshare``.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from changing_ranks import COMPARED, SETTINGS, STEPS, steps_of, wait_for_step, words_of
from support.runs import write_corpus

MACHINES = {"headway-a": "10.213.7.1", "headway-b": "10.213.7.2"}
CABLE = "cable0"
AT_ONCE = 30.0  # seconds until a side has noticed that the other one's processes have ended
VANISHED = 90.0  # seconds until a side has noticed that the other machine does not answer
PATIENCE = 600.0  # seconds of a training


class Machines:
    """Two machines with a cable between them, and a training on both."""

    def __init__(self, folder: Path, ranks: int) -> None:
        self.folder, self.ranks = folder, ranks
        self.sides: list[subprocess.Popen[bytes]] = []

    def start(self, path: Path, arguments: list[str]) -> None:
        """Start a training on both machines, or go on with it."""
        self.sides = []
        for number, name in enumerate(MACHINES):
            command = [
                "ip", "netns", "exec", name, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
                sys.executable, "-m", "torch.distributed.run", "--nnodes=2", f"--node-rank={number}",
                f"--nproc-per-node={self.ranks}", f"--master-addr={MACHINES['headway-a']}", "--master-port=29417",
                "-m", "headway", "train", str(path), "--quiet", *arguments,
            ]  # fmt: skip
            with (self.folder / f"{path.name}.{name}.log").open("ab") as log:
                variables = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": CABLE}
                self.sides.append(
                    subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | variables)
                )

    def kill(self, number: int) -> None:
        """Kill all processes of a machine."""
        self.sides[number].kill()

    def ended_within(self, limit: float) -> list[float | None]:
        """Return after how many seconds each side has ended; None: it was killed after the limit."""
        start, found = time.monotonic(), []
        for side in self.sides:
            try:
                side.wait(max(0.0, start + limit - time.monotonic()))
                found.append(time.monotonic() - start)
            except subprocess.TimeoutExpired:
                side.kill()
                side.wait()
                found.append(None)
        return found
