"""Full disks, read-only file systems and missing permissions, under training and the writing commands.

    python tests/outside/disk_failures.py [--count 100] [--seed 1]

Each case runs ``train``, ``prepare``, ``export`` or ``translate --output`` where it cannot write all of its
files. The command must end with exit code 1 and a last line that names the path and the reason, without a
traceback, and leave every checkpoint loadable and no unfinished file. Then the disk gets room or permission,
and the same command must give the files of an undisturbed one. It needs root, for mounting.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.cli.display import ProgressBar
from headway.cli.main import dispatch
from headway.cli.main import main as headway
from headway.errors import HeadwayError
from headway.training.storage.checkpoint import read_checkpoint
from support.campaign import Campaign
from support.processes import NOBODY, spawn, wait
from support.runs import command, write_corpus

TIME_LIMIT = 300.0  # seconds; a command that takes longer hangs
FAILURES = ("full disk", "read-only", "no permission")
# Files that hold times, commands or process numbers, or digests of such files.
UNEQUAL = {"timings.jsonl", ".lock", "run.json", "README.md", "state.json", "SHA256SUMS"}


def files(path):
    """Return the files of an output by their names in it; a file alone has the name "."."""
    found = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return {str(each.relative_to(path)): each for each in found}


def mount(disk, options):
    """Mount a file system in memory, or change the options of one."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(disk)], check=True)


class Disks(Campaign):
    """Commands whose disks fail."""

    def work(self):
        """Try each command with each failure in turn."""
        ProgressBar(None)  # loads modules that another user may not read
        try:
            mount(self.folder, "size=1g,mode=755")
        except (OSError, subprocess.CalledProcessError):
            print("skipped: no file system can be mounted here (that needs root)")
            return
        try:
            self.log = self.folder / "log"
            self.write_references()
            cases = [(verb, failure) for failure in FAILURES for verb in self.commands]
            for number in range(self.options.count):
                verb, failure = cases[number % len(cases)]
                outcome = self.disturb(verb, failure)
                self.counts[f"{verb}, {failure}: {outcome}"] += 1
        finally:
            subprocess.run(["umount", str(self.folder)], check=True)

    def write_references(self):
        """Run each command undisturbed: ``commands`` are their arguments, made from the path of the output."""
        corpus, text = write_corpus(self.folder, 150, 7), self.folder / "train.en"
        settings = command(Path("RUN"), corpus, training__max_steps=12)[2:]
        model = str(self.folder / "train")
        self.commands: dict[str, Callable[[Path], list[str]]] = {
            "train": lambda path: ["train", str(path), *(["--quiet"] if (path / "run.json").exists() else settings)],
            "prepare": lambda path: ["prepare", str(path), *corpus, "--text.vocab-size", "331"],
            "export": lambda path: ["export", model, "--to", "ctranslate2", str(path)],
            "translate": lambda path: ["translate", model, "--input", str(text), "--output", str(path)],
        }  # fmt: skip
        for verb in [*self.commands][: self.options.count]:
            # In this process, which then has all modules: a child without rights may not read them.
            dispatch(self.commands[verb](self.folder / verb))
        for file in (text, *files(Path(model)).values()):
            file.chmod(0o644)  # safetensors lets only their owner read its files

    def run_command(self, verb, path, *more, user=0):
        """Run a command in a child process; returns its exit code, None if it hangs."""
        words = [*self.commands[verb](path), *more]
        self.log.write_text("")
        self.log.chmod(0o666)
        return wait(spawn(lambda: headway(words), self.log, user), TIME_LIMIT)

    def disturb(self, verb, failure):
        """Run a command on a disk that fails, and again on the same disk when it does not.

        Returns:
            What came of the first: "refused", or "fitted" for a disk that had room after all.
        """
        disk, reference = self.folder / "disk", self.folder / verb
        path, user, size = disk / "output", 0, 1 << 28
        if failure == "full disk":
            whole = sum(file.stat().st_size for file in files(reference).values())
            size = max(4096, int(self.luck.random() * 1.1 * whole))
        disk.mkdir()
        mount(disk, f"size={size}")
        what = f"{verb}, {failure}, {size:,} bytes of disk"
        try:
            if verb == "train" and failure != "full disk" and self.luck.random() < 0.5:
                code = self.run_command(verb, path, "--training.max-steps=6")
                self.expect(
                    code == 0, f"the first steps of a run: exit code {code}: {self.log.read_text()}"
                )
            if failure == "read-only":
                mount(disk, "remount,ro")
            elif failure == "no permission":
                disk.chmod(0o555)
                user = NOBODY
            code = self.run_command(verb, path, user=user)
            if code != 0:
                self.check_refusal(verb, failure, path, code, what)
            else:
                self.expect(failure == "full disk", f"{what}: exit code 0")
            self.inspect(path, what)
            mount(disk, "remount,rw,size=256m")
            disk.chmod(0o777)
            if code == 0 and verb != "train":
                (shutil.rmtree if path.is_dir() else os.unlink)(path)
            again = self.run_command(verb, path, *["--training.max-steps=12"] * (verb == "train"))
            self.expect(
                again == 0, f"{what}: then exit code {again}: {self.log.read_text()[-500:]}"
            )
            if again == 0:
                found, expected = ({*files(each)} - {".lock"} for each in (path, reference))
                self.expect(found == expected, f"{what}: {sorted(found)}")
                self.compare(
                    path, reference, [name for name in expected if Path(name).name not in UNEQUAL]
                )
            return "fitted" if code == 0 else "refused"
        finally:
            subprocess.run(["umount", str(disk)], check=True)
            disk.rmdir()

    def check_refusal(self, verb, failure, path, code, what):
        """Check how a command that could not write has ended."""
        text = self.log.read_text()
        last = (text.strip().splitlines() or [""])[-1]
        self.expect(code in (1, 2), f"{what}: exit code {code}: {text[-300:]}")
        # The work of a translation lies beside its output until its end.
        named = last.startswith("headway: ") and str(path.parent) in last
        self.expect(named and "Traceback" not in text, f"{what}: {text[-500:]}")
        if verb == "train" and "checkpoints" in last:
            self.expect("bytes" in last, f"{what}: no bytes: {last}")
        if verb != "train":
            self.expect(not path.exists() or failure != "full disk", f"{what}: leaves {path}")

    def inspect(self, path, what):
        """Check that the checkpoints of a run are whole, and that no file is unfinished."""
        for checkpoint in path.glob("checkpoints/step-*"):
            try:
                read_checkpoint(checkpoint)
            except HeadwayError as error:
                self.expect(False, f"{what}: {error}")
        self.expect(not list(path.parent.rglob(".tmp-*")), f"{what}: unfinished files are left")


if __name__ == "__main__":
    Disks.run(__doc__, {"--count": 100, "--seed": 1})
