"""Prepare millions of pairs with several numbers of workers and with kills, and compare every byte.

    python tests/outside/prepare_campaign.py SOURCE TARGET [--copies 10] [--workers 1 2 4] [--kills 20]

SOURCE and TARGET are plain or compressed text files of the same number of lines. Each copy of the text gets
a marker of its own at the end of every line, so that no pair occurs twice because of the copies. The text is
prepared with each number of workers. Then one preparation is killed (kill -9): the command, and a worker
while the command goes on. The files of all must be equal. It prints the times, the largest memory of a
process (VmHWM) and the bytes on disk.
"""

import hashlib
import os
import resource
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.text.lines import open_bytes
from support.campaign import Campaign
from support.processes import children, read_memory

LANGUAGES = ("xx", "yy")
OPTIONS = ("--valid", 1000, "--text.vocab-size", 32000)
LIMIT = 0.6e9  # bytes of memory of a process


class Measured(NamedTuple):
    """A preparation: seconds, processor seconds, the most bytes of memory of a process, and on disk."""

    seconds: float
    processor_seconds: float
    memory: int
    disk: int


def write_copies(texts, folder, copies):
    """Write the text several times, each time with another marker at the end of each line."""
    files = []
    for text, language in zip(texts, LANGUAGES, strict=True):
        file = folder / f"train.{language}"
        with file.open("wb") as written:
            for copy in range(copies):
                marker = f" #{copy}\n".encode()
                with open_bytes(text) as lines:
                    written.writelines(line.rstrip(b"\r\n") + marker for line in lines)
        files.append(file)
    return files


def directory_bytes(folder):
    """Return the bytes of all files in a directory, which other processes change."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(place) / name).stat().st_size
    return total


def hash_directory(folder):
    """Return a hash of the names and the content of all files."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        whole.update(f"{path.relative_to(folder)} {digest}\n".encode())
    return whole.hexdigest()


class Preparations(Campaign):
    """Preparations of the same text."""

    def work(self):
        """Prepare with each number of workers, and with kills."""
        self.files = write_copies(self.options.texts, self.folder, self.options.copies)
        text_bytes = sum(file.stat().st_size for file in self.files)
        digests, longest = set(), 0.0
        for workers in self.options.workers:
            out = self.folder / f"workers-{workers}"
            found = self.measure(self.prepare(out, workers), out)
            digests.add(hash_directory(out))
            print(
                f"{workers} workers: {found.seconds:.1f} s, {found.processor_seconds:.1f} s of processors,"
                f" {found.memory / 1e6:.0f} MB at most in a process,"
                f" {found.disk / text_bytes:.2f} times the text on disk",
                flush=True,
            )
            self.expect(
                found.memory <= LIMIT, f"{workers} workers: {found.memory:,} bytes of memory"
            )
            longest = max(longest, found.seconds)
            shutil.rmtree(out)
        if self.options.kills:
            out = self.folder / "killed"
            self.prepare_with_kills(out, longest / (self.options.kills + 1))
            digests.add(hash_directory(out))
            left = [path.name for path in self.folder.iterdir() if path.name.startswith(".")]
            self.expect(not left, f"left behind: {left}")
        self.expect(
            len(digests) == 1, f"{len(digests)} different results of {text_bytes:,} bytes of text"
        )

    def prepare(self, out, workers):
        """Start a preparation, or go on with it; its messages are added to a file beside it."""
        text = ["--train", *self.files, "--workers", workers]
        return self.start("prepare", out, *text, *OPTIONS, log=out.with_suffix(".log"))

    def measure(self, process, out):
        """Wait for the end of a preparation."""
        began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        memory = disk = 0
        while process.poll() is None:
            running = (process.pid, *children(process.pid))
            memory = max(memory, *(read_memory("VmHWM", each) for each in running))
            disk = max(disk, directory_bytes(out.with_name(f".preparing-{out.name}")))
            time.sleep(0.2)
        self.finish(process, out.with_suffix(".log"))
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor_seconds = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        return Measured(time.monotonic() - began, processor_seconds, memory, disk)

    def prepare_with_kills(self, out, pause):
        """Kill workers and commands at random moments, with so many seconds between two of them."""
        process, left = self.prepare(out, 2), self.options.kills
        while left and process.poll() is None:
            time.sleep(self.luck.uniform(0.2, 1.8) * pause)
            workers = children(process.pid)
            is_command = not workers or self.luck.random() < 0.5
            self.kill(process.pid if is_command else self.luck.choice(workers))
            self.counts["commands killed" if is_command else "workers killed"] += 1
            left -= 1
            if is_command:
                process.wait()
                if out.exists() and not list(out.parent.glob(f".prepar*-{out.name}")):
                    break  # it had just finished
                process = self.prepare(out, 2)
        if not out.exists():
            self.finish(process, out.with_suffix(".log"))
        self.expect(not left, f"the preparation has ended with {left} kills to come")


if __name__ == "__main__":
    Preparations.run(
        __doc__,
        {
            "texts": {"nargs": 2, "type": Path, "metavar": "FILE"}, "--copies": 10, "--kills": 20, "--seed": 1,
            "--workers": {"nargs": "+", "type": int, "default": [1, 2, 4]},
        },
    )  # fmt: skip
