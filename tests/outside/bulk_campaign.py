"""Kill ``headway translate --workers`` at random moments, and compare its output with an undisturbed run.

    python tests/outside/bulk_campaign.py MODEL LINES [--lines 1000000] [--kills 20] [--workers 2]

MODEL translates the text file LINES, repeated to so many lines: once undisturbed, then while the command or
one of its workers is killed (kill -9) again and again. The same command resumes. The bytes must be equal, no
worker may outlive its command, and no file may be left. Prints the time from each kill until all workers work
again; 20 kills may cost 3 % of the undisturbed time of a million lines.
"""

import statistics
import sys
import time
from itertools import chain, islice, repeat
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.campaign import Campaign, note, wait_until
from support.processes import children, is_running

ALLOWED = 0.03 / 20  # for each kill, of the undisturbed time of a million lines
TIME_LIMIT = 60.0  # seconds until all workers work again
WINDOW = 1024  # lines that are translated together
# Lines that are translated between two kills. With fewer, one window could lose several workers, which ends the command.
GAP = 3 * WINDOW


class Translations(Campaign):
    """A file that is translated, undisturbed and while processes are killed."""

    def work(self):
        """Translate the file twice, and compare."""
        self.source, self.log = self.folder / "source", self.folder / "log"
        lines = self.options.text.read_text().splitlines(keepends=True)
        count = self.options.lines
        self.source.write_text("".join(islice(chain.from_iterable(repeat(lines)), count)))
        self.recoveries: dict[str, list[float]] = {"command": [], "worker": []}
        started = time.monotonic()
        self.finish(self.translate(self.folder / "reference.gz"), self.log)
        undisturbed = time.monotonic() - started
        self.out = self.folder / "killed" / "out.gz"
        self.out.parent.mkdir()
        self.process = self.translate(self.out)
        gaps = range(count // GAP)
        for gap in sorted(self.luck.sample(gaps, min(self.options.kills, len(gaps)))):
            self.wait_for_lines(gap * GAP)
            if self.process.poll() is None:
                time.sleep(self.luck.random() * 0.5)
                self.disturb()
        self.finish(self.process, self.log)
        self.report(undisturbed, count)
        same = self.out.read_bytes() == (self.folder / "reference.gz").read_bytes()
        self.expect(same, "the output differs from the undisturbed one")
        left = sorted(path.name for path in self.out.parent.iterdir())
        self.expect(left == ["out.gz"], f"files are left: {left}")

    def translate(self, out):
        """Start a translation of the file, or go on with it."""
        workers = self.options.workers
        return self.start(
            "translate", self.options.model, "--input", self.source, "--output", out, "--workers", workers,
            "--threads", workers, "--search.beam", self.options.beam, log=self.log,
        )  # fmt: skip

    def wait_for_lines(self, lines):
        """Wait until so many lines are translated, or the command has ended."""
        work = self.out.with_name(f".translating-{self.out.name}")

        def is_done():
            return WINDOW * len([*work.glob("*/lines/0*/[0-9]*")]) >= lines

        wait_until(lambda: self.process.poll() is not None or is_done(), 3600, f"{lines} lines")

    def disturb(self):
        """Kill the command or one of its workers, and wait until all workers work again."""
        before = children(self.process.pid)
        victim = self.luck.choice([self.process.pid, *before])
        kind, started = "worker", time.monotonic()
        self.kill(victim)
        if victim == self.process.pid:
            kind = "command"
            self.process.wait()
            wait_until(lambda: not any(map(is_running, before)), 2.0, "the end of workers")
            self.process = self.translate(self.out)

        def has_workers():
            found = children(self.process.pid)
            is_complete = len(found) == self.options.workers and victim not in found
            return is_complete or self.process.poll() is not None

        wait_until(has_workers, TIME_LIMIT, "new workers")
        self.recoveries[kind].append(time.monotonic() - started)

    def report(self, undisturbed, lines):
        """Print what the kills cost."""
        for kind, times in self.recoveries.items():
            if times:
                middle = statistics.median(times)
                print(f"{len(times)} x {kind} killed: back after {middle:.2f} s (median)")
        # While one worker is replaced, the others work.
        lost = (
            sum(self.recoveries["command"]) + sum(self.recoveries["worker"]) / self.options.workers
        )
        share = lost / (undisturbed * 1_000_000 / lines)
        print(
            f"undisturbed {undisturbed:.1f} s; {lost:.1f} s until all workers worked again,"
            f" {share:.2%} of the time of a million lines"
        )
        kills = sum(map(len, self.recoveries.values()))
        self.expect(share <= ALLOWED * kills, "too much time is lost")
        note(f"{kills} kills")


if __name__ == "__main__":
    Translations.run(
        __doc__,
        {
            "model": Path,
            "text": Path,
            "--lines": 1_000_000,
            "--kills": 20,
            "--workers": 2,
            "--beam": 1,
            "--seed": 1,
        },
    )
