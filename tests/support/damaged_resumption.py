"""Resume a run whose directory is damaged, in a child process, and judge what becomes of it."""

import contextlib
import importlib.util
import os
import random
import re
import shutil
import signal
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from headway.cli.main import dispatch, main
from headway.training.loop import run_to_end
from headway.training.steps.trainer import StepReport
from support.run_damage import damage, put_back, remove
from support.runs import WEIGHTS, command, opened, write_corpus

SECONDS = 120  # of the clock, for a resume that takes less than one
NOBODY = 65534
COMPARED = (
    *WEIGHTS,
    *(f"{folder}{n}" for folder in ("", "best/", "averaged/") for n in ("config.json", "tokenizer.model")),
)  # fmt: skip
# The words with which a resume says what it cannot restore.
EXPLAINED = ("is lost", "the average at the end leaves", "restore the file, or train more")


@dataclass(frozen=True)
class Case:
    """A damaged run that was resumed.

    Attributes:
        damage: What was done to which file.
        outcome: "same weights", "rejected", "explained", or what broke.
        log: What the resume printed.
    """

    damage: str
    outcome: str
    log: str

    @property
    def is_right(self) -> bool:
        """Whether the run ended with the same weights, or said why not."""
        return self.outcome in ("same weights", "rejected", "explained")

    @property
    def messages(self) -> list[str]:
        """The messages of the resume, without names of directories and numbers."""
        lines = [line for line in self.log.splitlines() if "/run" in line]
        return [re.sub(r"\d+", "N", re.sub(r"\S*/run\b", "RUN", line)) for line in lines]


class DamagedRuns:
    """Tiny runs to damage.

    Args:
        folder: An empty directory.
    """

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)
        self.folder = folder
        corpus = write_corpus(folder)
        reordered = write_corpus(folder / "reordered", is_reversed=True)
        self.whole = _train(folder / "whole", corpus)
        self.longer = shutil.copytree(self.whole, folder / "longer")
        # A command, so that this process has all modules: a child without rights may not read them.
        dispatch(["train", str(self.longer), "--quiet", "--training.max-steps", "20"])
        self.stopped = _train(folder / "stopped", corpus, last=10)
        (self.stopped / "bad-batches").mkdir()
        (self.stopped / "bad-batches" / "step-7.txt").write_text("one\neins\n")
        # The settings of the one and the data of the other are those of the runs above.
        self.others = [
            _train(folder / "other-data", reordered, last=10),
            _train(folder / "other-seed", corpus, last=10, training__seed=2),
        ]

    def resume(self, number: int) -> Case:
        """Damage a copy of a run, resume it, and compare it with the run that was never interrupted."""
        luck = random.Random(number)
        original = luck.choice([self.stopped] * 4 + [self.whole])
        path = self.folder / "run"
        _remove_all(path)
        shutil.copytree(original, path)
        damaged = damage(path, self.others, luck)
        is_extended = original == self.whole and luck.random() < 0.5
        case = self._judge(path, original, damaged, is_extended=is_extended)
        if case.outcome == "rejected" and number % 5 == 0:  # nothing was lost by the attempt
            put_back(path, original, [name for name, _ in damaged])
            again = self._judge(path, original, damaged, is_extended=is_extended)
            is_explained = any(phrase in case.log for phrase in EXPLAINED)
            if not is_explained and again.outcome not in ("same weights", "explained"):
                return Case(case.damage, f"put back, but {again.outcome}", case.log + again.log)
        return case

    def _judge(
        self, path: Path, original: Path, damaged: list[tuple[str, str]], *, is_extended: bool
    ) -> Case:
        options = ["--training.max-steps", "20"] if is_extended else []
        words = (
            f"{original.name}: {'; '.join(f'{name} {kind}' for name, kind in damaged)} {options}"
        )
        is_unreadable = any(kind == "unreadable" for _, kind in damaged)
        code, log = _resume(path, options, self.folder / "log", as_nobody=is_unreadable)
        if "Traceback" in log:
            return Case(words, "traceback", log)
        if code in (1, 2):
            said = [line for line in log.splitlines() if line.startswith("headway: ")]
            is_clear = len(said) == 1 and str(path) in said[0]
            return Case(words, "rejected" if is_clear else "rejected without one line", log)
        if code:
            return Case(words, f"exit code {code}", log)
        reference, names = self.longer if is_extended else self.whole, list(COMPARED)
        if (
            is_extended or original != self.whole
        ):  # the resume of a finished run reads no checkpoint
            last = f"checkpoints/step-000000{20 if is_extended else 17}"
            names += [f"{last}/{name}.safetensors" for name in ("model", "optimizer")]
        different = [name for name in names if not _are_equal(path / name, reference / name)]
        if not different:
            return Case(words, "same weights", log)
        is_explained = any(phrase in log for phrase in EXPLAINED)
        return Case(words, "explained" if is_explained else f"silent: {different[0]}", log)


def _train(path: Path, corpus: list[str], last: int = 17, **changes: object) -> Path:
    """Train a tiny run to its end, or to a step; if it can, a resume writes TensorBoard's curves."""
    has_tensorboard = importlib.util.find_spec("tensorboard") is not None
    changes |= {"training__tensorboard": str(has_tensorboard).lower(), "training__average": 4}
    run = opened(path, command(path, corpus, **changes))
    with contextlib.closing(run_to_end(run)) as events:
        for event in events:
            if isinstance(event, StepReport) and event.step == last == 10:
                break
    run.directory.unlock()
    return path


def _resume(path: Path, options: list[str], log: Path, *, as_nobody: bool) -> tuple[int, str]:
    """Resume a run in a child process, which has all modules already; return exit code and output.

    The child gives up the rights of root if the run has files that may not be read.
    """
    child = os.fork()
    if not child:
        code = 99
        try:
            signal.alarm(SECONDS)
            with log.open("w") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
            if as_nobody and not os.geteuid():
                for place in (path, *path.rglob("*")):
                    os.chown(place, NOBODY, NOBODY, follow_symlinks=False)
                os.setuid(NOBODY)
            main(["train", str(path), *options])
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, log.read_text(errors="replace")


def _remove_all(path: Path) -> None:
    if path.exists():
        for place in path.rglob("*"):
            if place.is_dir() and not place.is_symlink():
                place.chmod(0o700)
        remove(path)


def _are_equal(file: Path, other: Path) -> bool:
    return file.is_file() and file.read_bytes() == other.read_bytes()
