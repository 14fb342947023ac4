"""Resume a run whose directory is damaged, in a child process, and judge what becomes of it."""

import contextlib
import importlib.util
import os
import re
import shutil
import signal
from dataclasses import dataclass
from random import Random

from headway.cli.main import dispatch, main
from headway.training.run import run_to_end
from headway.training.steps.trainer import StepReport
from support.cases import read_rows
from support.file_damage import change_json_file, damage_bytes, delete, replace
from support.processes import NOBODY, spawn, wait
from support.runs import WEIGHTS, command, opened, write_corpus

SECONDS = 120  # of the clock, for a resume that takes less than one
COMPARED = (
    *WEIGHTS,
    *(f"{folder}{n}" for folder in ("", "best/", "averaged/") for n in ("config.json", "tokenizer.model")),
)  # fmt: skip
EXTRA = read_rows(__file__, "EXTRA")
# The words with which a resume says what it cannot restore.
EXPLAINED = ("the next validation writes another", "the average leaves step", "missing: restore it")


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
    def is_right(self):
        """Whether the run ended with the same weights, or said why not."""
        return self.outcome in ("same weights", "rejected", "explained")

    @property
    def messages(self):
        """The messages of the resume, without names of directories and numbers."""
        lines = [line for line in self.log.splitlines() if "/run" in line]
        return [re.sub(r"\d+", "N", re.sub(r"\S*/run\b", "RUN", line)) for line in lines]


class DamagedRuns:
    """Tiny runs to damage.

    Args:
        folder: An empty directory.
    """

    def __init__(self, folder):
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

    def resume(self, number):
        """Damage a copy of a run, resume it, and compare it with the run that was never interrupted."""
        luck = Random(number)
        original = luck.choice([self.stopped] * 4 + [self.whole])
        path = self.folder / "run"
        delete(path)
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

    def _judge(self, path, original, damaged, *, is_extended):
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
        if code != 0:
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


def _train(path, corpus, last=17, **changes):
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


def damage(path, others, luck):
    """Damage one place of a run, or two.

    Args:
        path: The run.
        others: Other runs, whose settings or data differ.
        luck: The source of randomness.

    Returns:
        The name of each damaged file or directory, with what was done to it.
    """
    done: list[tuple[str, str]] = []
    count = luck.choice((1, 1, 1, 2))
    while len(done) < count:
        is_file = luck.random() < 0.8
        places = [p for p in sorted(path.rglob("*")) if p.is_file() == is_file]
        place, other = luck.choice(places), luck.choice(places)
        if place.is_symlink() or not os.access(place, os.R_OK) or place.is_fifo():
            continue
        name = str(place.relative_to(path))
        kind = luck.choice(
            ("content", "content", "replaced", "replaced", "foreign", "unreadable", "extra")
        )
        if kind == "extra":
            place = path / (name := luck.choice(EXTRA))
            with contextlib.suppress(OSError):  # a directory that is no directory any more
                place.parent.mkdir(parents=True, exist_ok=True)
            if not place.parent.is_dir():
                continue
            if not place.exists():
                place.write_bytes(luck.randbytes(luck.choice((0, 40))))
        elif kind == "unreadable":
            place.chmod(luck.choice((0, 0o400, 0o444)))
        elif kind == "foreign":
            foreign = luck.choice(others) / name
            if not foreign.exists():
                continue
            delete(place)
            (shutil.copytree if foreign.is_dir() else shutil.copy2)(foreign, place)
        elif kind == "content" and is_file:
            place.write_bytes(_change_content(place, luck))
        else:
            kind = replace(place, other, luck)
            if kind.startswith("swapped"):
                done.append((str(other.relative_to(path)), kind))
        done.append((name, kind))
    return done


def _change_content(place, luck):
    """Return the content of a file with changes; of JSON often a value, and of a text a line."""
    data = place.read_bytes()
    with contextlib.suppress(ValueError):  # it is damaged already
        if place.suffix == ".json" and luck.random() < 0.5:
            return change_json_file(data, luck)
    lines = data.splitlines(keepends=True)
    if place.suffix in (".jsonl", ".txt") and lines and luck.random() < 0.5:
        at = luck.randrange(len(lines))
        return b"".join(luck.choice((lines[:at] + lines[at + 1 :], lines[at:] + lines)))
    return damage_bytes(data, luck)[0]


def put_back(path, original, names):
    """Restore the damaged files and directories of a run from the original."""
    for leftover in path.rglob(".tmp-*"):  # such as a checkpoint that a resume could not delete
        delete(leftover)
    for name in sorted(names):  # a directory before the files in it
        place, source = path / name, original / name
        delete(place)
        if source.is_dir():
            shutil.copytree(source, place)
        elif source.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place)


def _resume(path, options, log, *, as_nobody):
    """Resume a run in a child process, which has all modules already; return exit code and output.

    The child gives up the rights of root if the run has files that may not be read.
    """
    log.write_text("")
    if as_nobody and not os.geteuid():
        for place in (path, *path.rglob("*")):
            os.chown(place, NOBODY, NOBODY, follow_symlinks=False)
    user = NOBODY if as_nobody else 0
    child = spawn(lambda: main(["train", str(path), *options]), log, user)
    code = wait(child, SECONDS)
    if code is None:
        os.kill(child, signal.SIGKILL)
        wait(child, SECONDS)
    return code, log.read_text(errors="replace")


def _are_equal(file, other):
    return file.is_file() and file.read_bytes() == other.read_bytes()
