"""What campaigns share: their arguments, commands that are started and killed, files that are compared, and a report."""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


class Campaign:
    """A campaign at work, and what came of it.

    Args:
        folder: For all files that it makes.
        options: Its arguments; a ``seed`` is that of its random choices.

    Attributes:
        luck: Chooses at random.
        broken: The promises that were broken, a line each.
        counts: What was done and seen.
        figures: What was measured: a name, a value, and whether it reaches its target, if it has one.
    """

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.luck = random.Random(getattr(options, "seed", 1))
        self.broken: list[str] = []
        self.counts: Counter[str] = Counter()
        self.figures: list[tuple[str, float, bool | None]] = []

    def figure(self, name, value, holds=None):
        """Print a figure and keep it; one that misses its target is a broken promise."""
        self.figures.append((name, value, holds))
        verdict = {True: "ok", False: "MISSED", None: ""}[holds]
        print(f"{name:<60}{value:14.2f}  {verdict}", flush=True)
        if holds is False:
            self.broken.append(f"{name}: {value:.2f}")

    def expect(self, holds, otherwise):
        """Note a broken promise."""
        if not holds:
            self.broken.append(otherwise)
            print(otherwise, flush=True)

    def compare(self, path, reference, names):
        """Compare files of a directory with those of another one, byte by byte; count the directory."""
        for name in names:  # "." is a file itself
            file, other = path / name, reference / name
            same = file.is_file() and other.is_file() and file.read_bytes() == other.read_bytes()
            self.expect(same, f"{file}: differs from {other}")
        leftovers = [str(left) for left in path.rglob(".tmp-*")]
        self.expect(not leftovers, f"left behind: {leftovers}")
        self.counts["directories compared"] += 1

    def start(self, *words, log, launcher=(), **environment):
        """Start ``headway WORDS``; its messages are added to a log.

        Args:
            words: The verb and its arguments.
            log: The file.
            launcher: Words between the interpreter of Python and ``-m headway``.
            environment: Variables.
        """
        command = [sys.executable, *launcher, "-m", "headway", *map(str, words)]
        with log.open("ab") as file:
            return subprocess.Popen(command, stdout=file, stderr=file, env=os.environ | environment)

    def finish(self, process, log, seconds=1800.0):
        """Wait for the end of a command, which must succeed and print no traceback."""
        code, text = process.wait(seconds), log.read_text()
        self.expect(code == 0, f"{log}: exit code {code}: {text[-500:]}")
        self.expect("Traceback" not in text, f"{log}: a traceback: {text[-2000:]}")

    def kill(self, process):
        """Kill a process (kill -9), unless it has ended."""
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)

    def work(self):
        """Do all of it."""
        raise NotImplementedError

    @classmethod
    def run(cls, about, arguments, *, passes_on=False):
        """Be the script of a campaign: read its arguments, do its work, and print the figures.

        The directory of the work is kept if a promise is broken. The exit code is then 1.

        Args:
            about: The script's docstring.
            arguments: For each argument a default, or the type of one without a default, or what argparse takes.
            passes_on: Whether other arguments are those of a server: ``options.further``.
        """
        parser = argparse.ArgumentParser(
            description=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        for name, given in arguments.items():
            more = (
                {"type": given}
                if isinstance(given, type)
                else {"type": type(given), "default": given}
            )
            parser.add_argument(name, **(given if isinstance(given, Mapping) else more))
        options, options_of_server = parser.parse_known_intermixed_args()
        if options_of_server and not passes_on:
            parser.error(f"unknown: {' '.join(options_of_server)}")
        options.further = options_of_server
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and end what was started
        folder = Path(tempfile.mkdtemp(prefix="headway-campaign-"))
        folder.chmod(0o755)
        campaign, started = cls(folder, options), time.monotonic()
        campaign.work()
        if not campaign.broken:
            shutil.rmtree(folder)
        for what, count in sorted(campaign.counts.items()):
            print(f"{what:<50} {count:,}")
        print(f"{'seconds':<50} {time.monotonic() - started:.0f}")
        print(f"{len(campaign.broken)} promises broken")
        sys.exit(bool(campaign.broken))


def list_files(*paths):
    """Return the names of all files in any of the directories; "." is a path that is a file itself."""
    files = {path: [path] if path.is_file() else path.rglob("*") for path in paths}
    return sorted(
        {str(e.relative_to(p)) for p, found in files.items() for e in found if e.is_file()}
    )


def wait_until(holds, seconds, what=""):
    """Wait until something holds.

    Raises:
        TimeoutError: If it takes longer.
    """
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.005)


def note(*words):
    """Print how far a campaign is."""
    print(*words, file=sys.stderr, flush=True)
