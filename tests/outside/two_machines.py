"""Train on two machines that lose each other, and compare the runs with one of one process.

    python tests/outside/two_machines.py [--ranks 2]

The machines are network namespaces of this one, joined by a cable (a veth pair), with processes of their own: they
share the disk, but no memory. ``torchrun --nnodes 2`` trains on both. In one training all processes of a machine
are killed at once, first on the second machine and then on the first. In another one the cable is cut. Then both
sides must end by themselves in time, and the same command goes on. In a third one ``torchrun`` is elastic: the second
machine is lost, and the first one must go on alone. At the end weights, optimizer and metrics must be those of a run
with one process that nothing happened to, bit by bit.  This needs Linux,
root, and the programs ``ip`` and ``unshare``.
"""

import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from changing_ranks import COMPARED, MODELS, SETTINGS, STEPS, wait_for_step

from support.campaign import Campaign, note
from support.processes import command_line
from support.runs import count_steps, words, write_corpus

MACHINES = {"headway-a": "10.213.7.1", "headway-b": "10.213.7.2"}
CABLE = "cable0"
PORT = 29417
KILLED = 30.0  # seconds until a machine has noticed that the other's processes have ended
VANISHED = 120.0  # seconds until a machine has ended because the other one does not answer
PATIENCE = 300.0  # seconds of a training
SHARED = "headway-gradients"  # memory through which ranks of one machine exchange gradients


class Machines(Campaign):
    """Trainings on two machines."""

    def work(self):
        """Train, disturb and compare."""
        corpus = write_corpus(self.folder, train=1500)
        self.arguments = ["--quiet", *corpus, *words(MODELS["quick"] | SETTINGS)]
        self.ranks, reference = self.options.ranks, self.folder / "reference"
        train = [sys.executable, "-m", "headway", "train", str(reference), "--ranks", "1"]
        with machines():
            subprocess.run([*train, *self.arguments], check=True)
            for disturb in (self.kill_sides, self.cut, self.lose):
                path = self.folder / disturb.__name__
                disturb(path)
                self.compare(path, reference, COMPARED)

    def start_sides(self, path, *, is_elastic=False):
        """Start a training on both machines, or go on with it."""
        sides, first = [], MACHINES["headway-a"]
        for number, (name, address) in enumerate(MACHINES.items()):
            meeting = f"--nnodes=2 --node-rank={number} --master-addr={first} --master-port={PORT}"
            if is_elastic:  # the machines have no names of their own
                meeting = (
                    f"--nnodes=1:2 --max-restarts=3 --rdzv-backend=c10d --rdzv-endpoint={first}:{PORT}"
                    f" --rdzv-conf=is_host={int(address == first)} --local-addr={address}"
                )
            inside = f"ip netns exec {name} unshare --pid --fork --kill-child --mount-proc"
            torchrun = (
                f"{sys.executable} -m torch.distributed.run {meeting} --nproc-per-node={self.ranks}"
            )
            train = ["-m", "headway", "train", str(path), *self.arguments]
            variables = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": CABLE}
            with Path(f"{path}.{name}.log").open("ab") as log:
                sides.append(
                    subprocess.Popen(
                        [*inside.split(), *torchrun.split(), *train],
                        stdout=log, stderr=log, env=os.environ | variables,
                    )
                )  # fmt: skip
        return sides

    def kill_sides(self, path):
        """Train on two machines, of which first one and then the other loses all processes."""
        for victim, step in ((1, 4), (0, 8)):
            sides = self.start_sides(path)
            self.wait_for_step(path, step, sides)
            sides[victim].kill()
            self.expect_failure(path, sides, KILLED)
        self.finish_sides(path)

    def cut(self, path):
        """Train on two machines whose cable is cut."""
        sides = self.start_sides(path)
        self.wait_for_step(path, 5, sides)
        ip(f"-n headway-b link set {CABLE} down")
        self.expect_failure(path, sides, VANISHED)
        ip(f"-n headway-b link set {CABLE} up")
        self.finish_sides(path)

    def lose(self, path):
        """Train on two machines, of which one is lost and the other goes on."""
        sides = self.start_sides(path, is_elastic=True)
        self.wait_for_step(path, 4, sides)
        sides[1].kill()
        self.expect(sides[0].wait(PATIENCE) == 0, f"{path.name}: does not go on alone")

    def finish_sides(self, path):
        """Give the same command again, which must finish the training."""
        for side in self.start_sides(path):
            self.expect(side.wait(PATIENCE) == 0, f"{path.name}: does not finish")

    def wait_for_step(self, path, step, sides):
        """Wait until a training has made a step, and check that its ranks share no memory."""
        wait_for_step(path, step, sides[0])
        ranks = ranks_of(path)
        self.expect(len(ranks) == 2 * self.ranks, f"{path.name}: {len(ranks)} ranks")
        for rank in ranks:
            with suppress(OSError):
                shares = SHARED in Path(f"/proc/{rank}/maps").read_text()
                self.expect(not shares, f"{path.name}: the two machines share memory")

    def expect_failure(self, path, sides, limit):
        """Wait until both sides have ended with an error, which takes at most so many seconds."""
        start = time.monotonic()
        for name, side in zip(MACHINES, sides, strict=True):
            try:
                code = side.wait(max(0.0, start + limit - time.monotonic()))
                self.expect(code != 0, f"{path.name}: exit code 0 on {name}")
            except subprocess.TimeoutExpired:
                self.expect(False, f"{path.name}: {name} runs after {limit:.0f} s")
                side.kill()
                side.wait()
        seconds = time.monotonic() - start
        done = count_steps(path)
        self.expect(done < STEPS, f"{path.name}: was not disturbed")
        note(f"{path.name}: ended after {seconds:.1f} s at step {done}")


@contextmanager
def machines():
    """Make the network namespaces and the cable."""
    try:
        for name in MACHINES:
            ip(f"netns add {name}")
        first, second = MACHINES
        ip(f"link add {CABLE} netns {first} type veth peer name {CABLE} netns {second}")
        for name, address in MACHINES.items():
            ip(f"-n {name} address add {address}/24 dev {CABLE}")
            for device in ("lo", CABLE):
                ip(f"-n {name} link set {device} up")
        yield
    finally:
        for name in MACHINES:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def ip(words):
    """Change the network."""
    subprocess.run(["ip", *words.split()], check=True)


def ranks_of(path):
    """Return the ranks of a training, which are the children of the launchers."""
    lines = {
        process.name: command_line(int(process.name)) for process in Path("/proc").glob("[0-9]*")
    }
    launchers = ("unshare", "torch.distributed.run")
    return [
        int(name)
        for name, line in lines.items()
        if f"\0{path}\0" in line and not any(launcher in line.split("\0") for launcher in launchers)
    ]


if __name__ == "__main__":
    Machines.run(__doc__, {"--ranks": 2})
