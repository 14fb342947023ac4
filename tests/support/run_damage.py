"""Damage of a run directory at random, a resume of it in a child process, and what became of it."""

import json
import os
import random
import shutil
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from headway.cli.main import main
from headway.training.loop import run_to_end
from headway.training.trainer import StepReport
from support.runs import WEIGHTS, command, opened, write_corpus

KINDS = ("missing", "empty", "truncated", "flipped", "nonsense", "swapped", "directory")
NONSENSE: tuple[object, ...] = (
    None,
    [],
    {},
    "x",
    -1,
    0,
    3,
    1e300,
    float("inf"),
    True,
    [[1]],
    {"a": 1},
    "9" * 5000,
)
COMPARED = (
    *WEIGHTS,
    *(f"checkpoints/step-00000017/{n}.safetensors" for n in ("model", "optimizer", "random")),
)
# The words with which a resume says what it cannot restore.
EXPLAINED = ("is lost", "the average at the end leaves", "missing, or changed", "cannot be checked")


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


def write_runs(folder: Path) -> tuple[Path, Path]:
    """Train a tiny run to its end, and another that stops at step 10; return both."""
    corpus = write_corpus(folder)
    for name, last in (("whole", 17), ("stopped", 10)):
        run = opened(folder / name, command(folder / name, corpus))
        events = run_to_end(run)
        for event in events:
            if isinstance(event, StepReport) and event.step == last == 10:
                break
        events.close()
        run.directory.unlock()
    return folder / "whole", folder / "stopped"


def damage(path: Path, luck: random.Random) -> str:
    """Damage one file of a run, or swap two; return what was done."""
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name != ".lock")
    file = luck.choice(files)
    content = bytearray(file.read_bytes())
    kind = luck.choice(KINDS)
    if kind == "nonsense" and file.suffix != ".json":
        kind = "flipped"
    if kind == "missing":
        file.unlink()
    elif kind == "empty":
        file.write_bytes(b"")
    elif kind == "truncated":
        file.write_bytes(content[: luck.randrange(max(1, len(content)))])
    elif kind == "flipped":
        for _ in range(luck.randint(1, 3)):
            if content:
                content[luck.randrange(len(content))] ^= 1 << luck.randrange(8)
        file.write_bytes(content)
    elif kind == "nonsense":
        file.write_text(json.dumps(_replace_value(json.loads(content), luck)))
    elif kind == "swapped":
        other = luck.choice(files)
        file.write_bytes(other.read_bytes())
        other.write_bytes(content)
        kind = f"swapped with {other.relative_to(path)}"
    else:
        file.unlink()
        file.mkdir()
    return f"{file.relative_to(path)} {kind}"


def resume_damaged(number: int, whole: Path, stopped: Path, folder: Path) -> Case:
    """Damage a copy of the stopped run, resume it in a child process, and compare with the whole run."""
    path = folder / "run"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(stopped, path)
    done = damage(path, random.Random(number))
    code, log = _train(path, folder / "log")
    if "Traceback" in log:
        return Case(done, "traceback", log)
    if code == 1:
        last = log.strip().splitlines()[-1:]
        names = bool(last) and last[0].startswith("headway: ") and str(path) in last[0]
        return Case(done, "rejected" if names else "rejected without a file's name", log)
    if code:
        return Case(done, f"exit code {code}", log)
    same = all(
        (path / name).is_file() and (path / name).read_bytes() == (whole / name).read_bytes()
        for name in COMPARED
    )
    if same:
        return Case(done, "same weights", log)
    is_explained = any(words in log for words in EXPLAINED)
    return Case(done, "explained" if is_explained else "silent difference", log)


def _train(path: Path, log: Path) -> tuple[int, str]:
    """Resume a run in a child process, which has all modules already; return exit code and output."""
    child = os.fork()
    if not child:
        code = 99
        try:
            with log.open("w") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
            main(["train", str(path)])
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, log.read_text(errors="replace")


def _replace_value(values: object, luck: random.Random) -> object:
    """Replace one value somewhere in JSON by another, often of another type."""
    if isinstance(values, dict | list) and values and luck.random() < 0.8:
        key = luck.choice(list(values) if isinstance(values, dict) else range(len(values)))
        values[key] = _replace_value(values[key], luck)
        return values
    return luck.choice(NONSENSE)
