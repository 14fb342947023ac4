"""Kill ``headway translate --workers`` at random moments, and compare its output with an undisturbed run.

    python tests/outside/bulk_campaign.py MODEL LINES [--lines 1000000] [--kills 20] [--workers 2]

MODEL translates the text file LINES, repeated to so many lines: once undisturbed, then while the command or
one of its workers is killed (kill -9) again and again. The same command resumes. The bytes must be equal, no worker
may outlive its command, and no file may be left. Prints the time from each kill until all workers work again;
20 kills may cost 3 % of the undisturbed time of a million lines. The exit code is 1 if a promise is broken.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice, repeat
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.processes import children, is_running

ALLOWED = 0.03 / 20  # for each kill, of the undisturbed time of a million lines
TIME_LIMIT = 60.0  # seconds until all workers work again
WINDOW = 1024  # lines that are translated together
GAP = (
    3 * WINDOW
)  # lines between two kills: a window whose worker is killed again and again ends the command
BROKEN: list[str] = []


def expect(holds: bool, otherwise: str) -> None:
    """Note a broken promise."""
    if not holds:
        BROKEN.append(otherwise)
        print(otherwise, flush=True)


def wait_for(condition: "Iterator[bool]", limit: float, what: str) -> None:
    """Wait until a condition, which is asked again and again, holds."""
    deadline = time.monotonic() + limit
    for holds in condition:
        if holds:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {limit:.0f} s")
        time.sleep(0.005)


class Translation:
    """A ``headway translate`` that is killed and started again until it is finished.

    Args:
        command: The words after ``headway translate``.
        out: The output, whose finished windows are counted.
        workers: Processes that the command starts.

    Attributes:
        recoveries: For each kill the process and the seconds until all workers worked again.
    """

    def __init__(self, command: list[str], out: Path, workers: int) -> None:
        self.command, self.out, self.workers = command, out, workers
        self.log = out.with_name("log")
        self.recoveries: list[tuple[str, float]] = []
        self.process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "headway", "translate", *self.command], stderr=log
            )

    def finish(self) -> None:
        """Wait for the end."""
        code = self.process.wait()
        log = self.log.read_text()
        expect(code == 0, f"exit code {code}: {log[-500:]}")
        expect("Traceback" not in log, f"a traceback: {log[-2000:]}")

    def wait_for_lines(self, lines: int) -> bool:
        """Wait until so many lines are done; return False if the command ends before."""
        while self.process.poll() is None:
            if self._lines() >= lines:
                return True
            time.sleep(0.01)
        return False

    def kill(self, luck: random.Random) -> None:
        """Kill the command or one of its workers, and wait until all workers work again."""
        before = children(self.process.pid)
        victim = luck.choice([self.process.pid, *before])
        started = time.monotonic()
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        if victim != self.process.pid:
            wait_for(self._has_workers(without=victim), TIME_LIMIT, "a new worker")
            self.recoveries.append(("worker", time.monotonic() - started))
            return
        self.process.wait()
        wait_for((not any(map(is_running, before)) for _ in repeat(0)), 2.0, "the end of workers")
        self.process = self._start()
        wait_for(self._has_workers(without=victim), TIME_LIMIT, "new workers")
        self.recoveries.append(("command", time.monotonic() - started))

    def _has_workers(self, without: int) -> Iterator[bool]:
        while True:
            found = children(self.process.pid)
            is_complete = len(found) == self.workers and without not in found
            yield is_complete or self.process.poll() is not None

    def _lines(self) -> int:
        work = self.out.with_name(f".translating-{self.out.name}")
        return WINDOW * len([*work.glob("lines/0*/[0-9]*")])


def disturb(translation: Translation, lines: int, kills: int, luck: random.Random) -> None:
    """Kill a translation of so many lines after random numbers of them, and let it finish."""
    gaps = range(lines // GAP)
    for gap in sorted(luck.sample(gaps, min(kills, len(gaps)))):
        moment = gap * GAP
        if translation.wait_for_lines(moment):
            time.sleep(luck.random() * 0.5)
            translation.kill(luck)
    translation.finish()


def report(translation: Translation, seconds: float, undisturbed: float, lines: int) -> None:
    """Print what the kills cost."""
    for kind in ("command", "worker"):
        times = sorted(taken for name, taken in translation.recoveries if name == kind)
        if times:
            middle = times[len(times) // 2]
            print(f"{len(times)} x {kind} killed: back after {middle:.2f} s (median)")
    # While one worker is replaced, the others work.
    workers = translation.workers
    lost = sum(
        taken / (workers if name == "worker" else 1) for name, taken in translation.recoveries
    )
    share = lost / (undisturbed * 1_000_000 / lines)
    print(
        f"undisturbed {undisturbed:.1f} s, with kills {seconds:.1f} s; {lost:.1f} s until all workers"
        f" worked again, {share:.2%} of the time of a million lines"
    )
    expect(share <= ALLOWED * len(translation.recoveries), "too much time is lost")


def main() -> int:
    """Run the campaign and print what was done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path, metavar="LINES")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    options = parser.parse_args()
    luck = random.Random(options.seed)
    wanted = ["--workers", str(options.workers), "--threads", str(options.workers)]
    wanted += ["--search.beam", str(options.beam)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = options.text.read_text().splitlines(keepends=True)

        def command(count: int, out: Path) -> list[str]:
            source = folder / f"source-{count}"
            if not source.exists():
                source.write_text("".join(islice(chain.from_iterable(repeat(lines)), count)))
            files = ["--input", str(source), "--output", str(out)]
            return [str(options.model), *files, *wanted]

        def translate(count: int) -> tuple[bytes, float]:
            started = time.monotonic()
            out = folder / "reference.gz"
            Translation(command(count, out), out, options.workers).finish()
            return out.read_bytes(), time.monotonic() - started

        reference, undisturbed = translate(options.lines)
        out = folder / "killed" / "out.gz"
        out.parent.mkdir()
        started = time.monotonic()
        translation = Translation(command(options.lines, out), out, options.workers)
        disturb(translation, options.lines, options.kills, luck)
        report(translation, time.monotonic() - started, undisturbed, options.lines)
        expect(out.read_bytes() == reference, "the output differs from the undisturbed one")

        left = {path.name for path in folder.glob("*/*")}
        known = {"log", "out.gz"}
        expect(left == known, f"files are left: {sorted(left - known)}")
    print(f"{options.lines:,} lines; {len(BROKEN)} promises broken")
    return bool(BROKEN)


if __name__ == "__main__":
    sys.exit(main())
