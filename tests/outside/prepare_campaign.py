"""Prepare millions of pairs with several numbers of workers and with kills, and compare every byte.

    python tests/outside/prepare_campaign.py SOURCE TARGET [--copies 10] [--workers 1 2 4] [--kills 20]

SOURCE and TARGET are plain or compressed text files of the same number of lines. Each copy of the text gets
a marker of its own at the end of every line, so that no pair occurs twice because of the copies. The text is
prepared with each number of workers. Then one preparation is killed (kill -9): the command, and a worker
while the command goes on. The files of all must be equal. It prints the times, the largest memory of a
process (VmHWM) and the bytes on disk. The exit code is 1 if a promise is broken.
"""

import argparse
import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.text.lines import open_bytes
from support.processes import children

LANGUAGES = ("xx", "yy")
LIMIT = 1.1e9  # bytes of memory for a worker


class Measured(NamedTuple):
    """A preparation: seconds, processor seconds, the most bytes of memory of a process, and on disk."""

    seconds: float
    processor_seconds: float
    memory: int
    disk: int


def write_copies(texts: list[Path], folder: Path, copies: int) -> list[Path]:
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


def start(
    files: list[Path], out: Path, workers: int, options: list[str]
) -> "subprocess.Popen[bytes]":
    """Start a preparation; its messages are added to a file beside it."""
    words = ["prepare", out, "--train", *files, "--workers", workers, *options]
    with out.with_suffix(".log").open("ab") as log:
        command = [sys.executable, "-m", "headway", *map(str, words)]
        return subprocess.Popen(command, stderr=log, stdout=log)


def peak_memory(process: int) -> int:
    """Return the most bytes of memory that a process has had; 0 if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def directory_bytes(folder: Path) -> int:
    """Return the bytes of all files in a directory, which other processes change."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(place) / name).stat().st_size
    return total


def measure(process: "subprocess.Popen[bytes]", work: Path, log: Path) -> Measured:
    """Wait for the end of a preparation."""
    began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    memory = disk = 0
    while process.poll() is None:
        memory = max([memory, *map(peak_memory, (process.pid, *children(process.pid)))])
        disk = max(disk, directory_bytes(work))
        time.sleep(0.2)
    if process.returncode:
        sys.exit(log.read_text())
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor_seconds = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return Measured(time.monotonic() - began, processor_seconds, memory, disk)


def prepare_with_kills(
    files: list[Path],
    out: Path,
    workers: int,
    options: list[str],
    kills: int,
    luck: random.Random,
    seconds: float,
) -> tuple[int, int]:
    """Kill workers and commands at random moments; return how many of each were killed."""
    counts = [0, 0]
    pause = seconds / (kills + 1)
    process = start(files, out, workers, options)
    while process.poll() is None:
        time.sleep(luck.uniform(0.2, 1.8) * pause)
        if sum(counts) == kills:
            process.wait()
            break
        is_command = luck.random() < 0.5
        with suppress(ProcessLookupError, IndexError):
            os.kill(
                process.pid if is_command else luck.choice(children(process.pid)), signal.SIGKILL
            )
            counts[is_command] += 1
            if is_command:
                process.wait()
                if out.exists() and not list(out.parent.glob(f".prepar*-{out.name}")):
                    return counts[0], counts[1]  # it had just finished
                process = start(files, out, workers, options)
    if process.returncode:
        sys.exit(out.with_suffix(".log").read_text())
    return counts[0], counts[1]


def hash_directory(folder: Path) -> str:
    """Return a hash of the names and the content of all files."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        whole.update(f"{path.relative_to(folder)} {digest}\n".encode())
    return whole.hexdigest()


def main() -> int:
    """Run the campaign and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", nargs=2, type=Path, metavar="FILE")
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--folder", type=Path, help="for the text and the results (default: temporary)"
    )
    options = parser.parse_args()
    broken = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        files = write_copies(options.texts, folder, options.copies)
        text_bytes = sum(file.stat().st_size for file in files)
        words = ["--valid", "1000", "--text.vocab-size", "32000"]
        results: dict[int, Measured] = {}
        digests = set()
        for workers in options.workers:
            out = folder / f"workers-{workers}"
            process = start(files, out, workers, words)
            results[workers] = found = measure(
                process, out.with_name(f".preparing-{out.name}"), out.with_suffix(".log")
            )
            digests.add(hash_directory(out))
            print(
                f"{workers} workers: {found.seconds:.1f} s, {found.processor_seconds:.1f} s of processors,"
                f" {found.memory / 1e6:.0f} MB at most in a process,"
                f" {found.disk / text_bytes:.2f} times the text on disk",
                flush=True,
            )
            broken += found.memory > LIMIT
            if workers == options.workers[0]:
                print(out.with_suffix(".log").read_text(), end="")
            shutil.rmtree(out)
        if options.kills:
            longest = max(found.seconds for found in results.values())
            counts = prepare_with_kills(
                files,
                folder / "killed",
                2,
                words,
                options.kills,
                random.Random(options.seed),
                longest,
            )
            digests.add(hash_directory(folder / "killed"))
            left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
            print(f"killed: {counts[0]} workers, {counts[1]} commands; left behind: {left}")
            broken += bool(left) + (sum(counts) < options.kills)
        print(f"{len(digests)} different results of {text_bytes / 1e9:.2f} GB of text")
        broken += len(digests) != 1
        print(f"{broken} promises broken")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
