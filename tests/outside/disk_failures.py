"""Full disks, read-only file systems and missing permissions, under training and the writing commands.

    python tests/outside/disk_failures.py [--count 100] [--seed 1]

Each case runs ``train``, ``prepare``, ``export`` or ``translate --output`` where it cannot write all of its
files. The command must end with exit code 1 and a last line that names the path and the reason, without a
traceback, and leave every checkpoint loadable and no unfinished file. Then the disk gets room or permission,
and the same command must give the files of an undisturbed one. It needs root, for mounting; the exit code is 1
if a promise is broken.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from crash import TIME_LIMIT, spawn, wait

from headway.cli.display import make_bar
from headway.cli.main import main as headway
from headway.errors import HeadwayError
from headway.training.storage.checkpoint import read_checkpoint
from support.runs import command, write_corpus

NOBODY = 65534
FAILURES = ("full disk", "read-only", "no permission")
# Files that hold times, commands or process numbers, or digests of such files.
UNEQUAL = {"timings.jsonl", ".lock", "run.json", "README.md", "state.json", "SHA256SUMS"}
BROKEN: list[str] = []


@dataclass
class Command:
    """A command that writes, and what it has written when nothing disturbed it.

    Attributes:
        words: Its arguments, made from the path of its output.
        reference: The undisturbed output.
    """

    words: Callable[[Path], list[str]]
    reference: Path

    @property
    def size(self) -> int:
        """Return the bytes of the undisturbed output."""
        return sum(path.stat().st_size for path in files(self.reference).values())


def files(path: Path) -> dict[str, Path]:
    """Return the files of an output by their names in it; a file alone has the name ""."""
    if path.is_file():
        return {"": path}
    return {str(p.relative_to(path)): p for p in path.rglob("*") if p.is_file()}


def run(words: list[str], log: Path, user: int = 0) -> int | None:
    """Run ``headway`` in a child process; returns its exit code, None if it hangs."""

    def work() -> None:
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        headway(words)

    return wait(spawn(log, work), TIME_LIMIT)


def expect(holds: bool, otherwise: str) -> None:
    """Note a broken promise."""
    if not holds:
        BROKEN.append(otherwise)
        print(otherwise, flush=True)


def mount(disk: Path, options: str) -> None:
    """Mount a file system in memory, or change the options of one."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(disk)], check=True)


def inspect(path: Path, what: str) -> None:
    """Check that the checkpoints of a run are whole, and that no file is unfinished."""
    for checkpoint in path.glob("checkpoints/step-*"):
        try:
            read_checkpoint(checkpoint)
        except HeadwayError as error:
            expect(False, f"{what}: {error}")
    expect(not list(path.parent.rglob(".tmp-*")), f"{what}: unfinished files are left")


def compare(path: Path, reference: Path, what: str) -> None:
    """Compare an output with the undisturbed one."""
    found, expected = files(path), files(reference)
    expect(found.keys() - {".lock"} == expected.keys() - {".lock"}, f"{what}: {sorted(found)}")
    for name in (found.keys() & expected.keys()) - UNEQUAL:
        if Path(name).name not in UNEQUAL:
            same = found[name].read_bytes() == expected[name].read_bytes()
            expect(same, f"{what}: {name} differs")


def disturb(verb: str, writer: Command, failure: str, folder: Path, luck: random.Random) -> str:
    """Run a command on a disk that fails, and again on the same disk when it does not.

    Returns:
        What came of the first: "refused", or "fitted" for a disk that had room after all.
    """
    disk, log = folder / "disk", folder / "log"
    disk.mkdir()
    log.unlink(missing_ok=True)
    path = disk / "output"
    size = int(luck.random() * 1.1 * writer.size) if failure == "full disk" else 1 << 28
    mount(disk, f"size={max(size, 4096)}")
    user = 0
    try:
        if verb == "train" and failure != "full disk" and luck.random() < 0.5:
            code = run([*writer.words(path), "--training.max-steps=6"], log)
            expect(code == 0, f"the first steps of a run: exit code {code}: {log.read_text()}")
        if failure == "read-only":
            mount(disk, "remount,ro")
        elif failure == "no permission":
            disk.chmod(0o555)
            user = NOBODY
        log.write_text("")
        log.chmod(0o666)
        code = run(writer.words(path), log, user)
        text = log.read_text()
        last = (text.strip().splitlines() or [""])[-1]
        what = f"{verb}, {failure}, {size:,} bytes of disk"
        if code != 0:
            expect(code == 1, f"{what}: exit code {code}: {text[-300:]}")
            named = last.startswith("headway: ") and str(path) in last
            expect(named and "Traceback" not in text, f"{what}: {text[-500:]}")
            if verb == "train" and "checkpoints" in last:
                expect("bytes" in last, f"{what}: no bytes: {last}")
            if verb != "train":
                expect(not path.exists() or failure != "full disk", f"{what}: leaves {path}")
        else:
            expect(failure == "full disk", f"{what}: exit code 0")
        inspect(path, what)
        mount(disk, "remount,rw,size=256m")
        disk.chmod(0o777)
        if code == 0 and verb != "train":
            (shutil.rmtree if path.is_dir() else os.unlink)(path)
        more = ["--training.max-steps=12"] if verb == "train" else []
        again = run([*writer.words(path), *more], log)
        expect(again == 0, f"{what}: then exit code {again}: {log.read_text()[-500:]}")
        if again == 0:
            compare(path, writer.reference, what)
        return "fitted" if code == 0 else "refused"
    finally:
        subprocess.run(["umount", str(disk)], check=True)
        disk.rmdir()


def writers(folder: Path) -> dict[str, Command]:
    """Run each command undisturbed."""
    corpus = write_corpus(folder)
    text = folder / "lines.en"
    text.write_text((folder / "train.en").read_text())
    settings = command(Path("RUN"), corpus, training__max_steps=12)[2:]
    model = folder / "train"

    def train(path: Path) -> list[str]:
        more = ["--quiet"] if (path / "run.json").exists() else settings
        return ["train", str(path), *more]

    def prepare(path: Path) -> list[str]:
        return ["prepare", str(path), *corpus, "--text.vocab-size", "331"]

    def export(path: Path) -> list[str]:
        return ["export", str(model), "--to", "ctranslate2", str(path)]

    def translate(path: Path) -> list[str]:
        return ["translate", str(model), "--input", str(text), "--output", str(path)]

    found = {}
    for words in (train, prepare, export, translate):
        name = words.__name__
        found[name] = Command(words, folder / name)
        log = folder / "log"
        if run(words(folder / name), log):
            sys.exit(log.read_text())
    for file in (text, *files(model).values()):
        file.chmod(0o644)  # safetensors lets only their owner read its files
    return found


def main() -> int:
    """Run all cases and print what came of them."""
    make_bar()  # loads modules that another user may not read
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    luck, counts = random.Random(options.seed), Counter[str]()
    folder = Path(tempfile.mkdtemp(prefix="headway-disk-"))
    folder.chmod(0o755)
    try:
        try:
            mount(folder, "size=1g")
        except (OSError, subprocess.CalledProcessError):
            print("skipped: no file system can be mounted here (that needs root)")
            return 0
        folder.chmod(0o755)
        commands = writers(folder)
        cases = [(verb, failure) for failure in FAILURES for verb in commands]
        for number in range(options.count):
            verb, failure = cases[number % len(cases)]
            outcome = disturb(verb, commands[verb], failure, folder, luck)
            counts[f"{verb}, {failure}: {outcome}"] += 1
    finally:
        subprocess.run(["umount", str(folder)], check=False, stderr=subprocess.DEVNULL)
        folder.rmdir()
    for what, count in sorted(counts.items()):
        print(f"{what:<40} {count}")
    print(f"{len(BROKEN)} promises broken")
    return bool(BROKEN)


if __name__ == "__main__":
    sys.exit(main())
