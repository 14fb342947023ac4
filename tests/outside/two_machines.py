"""Train on two machines that lose each other, and compare the runs with one of one process.

    python tests/outside/two_machines.py [--ranks 2]

The machines are network namespaces of this one, joined by a cable (a veth pair), with processes of their own: they
share the disk, but no memory. ``torchrun --nnodes 2`` trains on both. In one training all processes of a machine
are killed at once, first on the second machine and then on the first. In another one the cable is cut. Then both
sides must end by themselves in time, and the same command goes on. In a third one ``torchrun`` is elastic: the second
machine is lost, and the first one must go on alone. At the end weights, optimizer and metrics must be those of a run
with one process that nothing happened to, bit by bit. The exit code is 1 if a promise is broken. This needs Linux,
root, and the programs ``ip`` and ``unshare``.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from changing_ranks import COMPARED, MODELS, SETTINGS, STEPS, steps_of, wait_for_step, words_of

from support.runs import write_corpus

MACHINES = {"headway-a": "10.213.7.1", "headway-b": "10.213.7.2"}
CABLE = "cable0"
PORT = 29417
KILLED = 30.0  # seconds until a machine has noticed that the other's processes have ended
VANISHED = 120.0  # seconds until a machine has ended because the other one does not answer
PATIENCE = 300.0  # seconds of a training
SHARED = "headway-gradients"  # memory through which ranks of one machine exchange gradients


class Campaign:
    """Trainings on two machines, and what came of them.

    Attributes:
        folder: For everything.
        ranks: On each machine.
        broken: The promises that were broken, a line each.
    """

    def __init__(self, folder: Path, ranks: int) -> None:
        self.folder, self.ranks = folder, ranks
        corpus = write_corpus(folder, train=1500)
        self.arguments = ["--quiet", *corpus, *words_of(MODELS["quick"] | SETTINGS)]
        self.broken: list[str] = []

    def start(self, path: Path, *, is_elastic: bool = False) -> "list[subprocess.Popen[bytes]]":
        """Start a training on both machines, or go on with it."""
        sides = []
        first = MACHINES["headway-a"]
        for number, (name, address) in enumerate(MACHINES.items()):
            meeting = [
                "--nnodes=2",
                f"--node-rank={number}",
                f"--master-addr={first}",
                f"--master-port={PORT}",
            ]
            if is_elastic:
                meeting = [
                    *(
                        "--nnodes=1:2",
                        "--max-restarts=3",
                        "--rdzv-backend=c10d",
                        f"--rdzv-endpoint={first}:{PORT}",
                    ),
                    # The machines have no names of their own.
                    *(f"--rdzv-conf=is_host={int(address == first)}", f"--local-addr={address}"),
                ]
            command = [
                *(
                    "ip",
                    "netns",
                    "exec",
                    name,
                    "unshare",
                    "--pid",
                    "--fork",
                    "--kill-child",
                    "--mount-proc",
                ),
                *(
                    sys.executable,
                    "-m",
                    "torch.distributed.run",
                    *meeting,
                    f"--nproc-per-node={self.ranks}",
                ),
                *("-m", "headway", "train", str(path), *self.arguments),
            ]
            variables = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": CABLE}
            with Path(f"{path}.{name}.log").open("ab") as log:
                sides.append(
                    subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | variables)
                )
        return sides

    def kill(self, path: Path) -> None:
        """Train on two machines, of which first one and then the other loses all processes."""
        for victim, step in ((1, 4), (0, 8)):
            sides = self.start(path)
            self.wait_for_step(path, step, sides)
            sides[victim].kill()
            self.expect_failure(path, sides, KILLED)
        self.finish(path)

    def cut(self, path: Path) -> None:
        """Train on two machines whose cable is cut."""
        sides = self.start(path)
        self.wait_for_step(path, 5, sides)
        ip("-n", "headway-b", "link", "set", CABLE, "down")
        self.expect_failure(path, sides, VANISHED)
        ip("-n", "headway-b", "link", "set", CABLE, "up")
        self.finish(path)

    def lose(self, path: Path) -> None:
        """Train on two machines, of which one is lost and the other goes on."""
        sides = self.start(path, is_elastic=True)
        self.wait_for_step(path, 4, sides)
        sides[1].kill()
        self.expect(sides[0].wait(PATIENCE) == 0, f"{path.name}: does not go on alone")

    def finish(self, path: Path) -> None:
        """Give the same command again, which must finish the training."""
        for side in self.start(path):
            self.expect(side.wait(PATIENCE) == 0, f"{path.name}: does not finish")

    def wait_for_step(self, path: Path, step: int, sides: "list[subprocess.Popen[bytes]]") -> None:
        """Wait until a training has made a step, and check that its ranks share no memory."""
        wait_for_step(path, step, sides[0])
        ranks = ranks_of(path)
        self.expect(len(ranks) == 2 * self.ranks, f"{path.name}: {len(ranks)} ranks")
        for rank in ranks:
            with suppress(OSError):
                shares = SHARED in Path(f"/proc/{rank}/maps").read_text()
                self.expect(not shares, f"{path.name}: the two machines share memory")

    def expect_failure(
        self, path: Path, sides: "list[subprocess.Popen[bytes]]", limit: float
    ) -> None:
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
        done = steps_of(path)
        self.expect(done < STEPS, f"{path.name}: was not disturbed")
        print(
            f"{path.name}: ended after {seconds:.1f} s at step {done}", file=sys.stderr, flush=True
        )

    def compare(self, path: Path, reference: Path) -> None:
        """Compare a finished run with the undisturbed one."""
        for name in COMPARED:
            same = (path / name).read_bytes() == (reference / name).read_bytes()
            self.expect(same, f"{path.name}: {name} differs from the undisturbed run's")
        print(f"{path.name}: compared", file=sys.stderr, flush=True)

    def expect(self, holds: bool, otherwise: str) -> None:
        """Note a broken promise."""
        if not holds:
            self.broken.append(otherwise)
            print(otherwise, flush=True)


@contextmanager
def machines() -> Iterator[None]:
    """Make the network namespaces and the cable."""
    try:
        for name in MACHINES:
            ip("netns", "add", name)
        first, second = MACHINES
        ip(
            "link",
            "add",
            CABLE,
            "netns",
            first,
            "type",
            "veth",
            "peer",
            "name",
            CABLE,
            "netns",
            second,
        )
        for name, address in MACHINES.items():
            ip("-n", name, "address", "add", f"{address}/24", "dev", CABLE)
            for device in ("lo", CABLE):
                ip("-n", name, "link", "set", device, "up")
        yield
    finally:
        for name in MACHINES:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def ip(*words: str) -> None:
    """Change the network."""
    subprocess.run(["ip", *words], check=True)


def ranks_of(path: Path) -> list[int]:
    """Return the ranks of a training, which are the children of the launchers."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_text().split("\0")
            if (
                str(path) in words
                and "unshare" not in words
                and "torch.distributed.run" not in words
            ):
                found.append(int(process.name))
    return found


def main() -> int:
    """Train, compare, and print what was broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2, help="on each machine")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and remove the machines
    with tempfile.TemporaryDirectory(prefix="headway-machines-") as name, machines():
        campaign = Campaign(Path(name), options.ranks)
        reference = campaign.folder / "reference"
        train = [sys.executable, "-m", "headway", "train", str(reference), "--ranks", "1"]
        subprocess.run([*train, *campaign.arguments], check=True)
        for disturb in (campaign.kill, campaign.cut, campaign.lose):
            path = campaign.folder / disturb.__name__
            disturb(path)
            campaign.compare(path, reference)
    print(f"{len(campaign.broken)} promises broken")
    return bool(campaign.broken)


if __name__ == "__main__":
    sys.exit(main())
