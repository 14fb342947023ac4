"""Trainings of a few steps: their metrics, weights and files, interrupted or not."""

import json
import os
import shlex
import shutil
import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from side import Answer, Side, write_messages, write_tree
from texts import CASES, plain, read_cases, write_lines

VOLATILE = ("run.json", "state.json", "timings.jsonl", "SHA256SUMS", ".lock")
INTERRUPTED = "train interrupted --data data --preset tiny --config tiny.toml --ranks 1 --quiet"


def record(side: Side, model: Path, out: Path) -> None:
    """Run each command, interrupt a training, and write what is printed and what all of it leaves."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, model)
        commands = read_cases("training.txt")
        answers = [(line, side.run(*shlex.split(line), cwd=folder)) for line in commands]
        write_messages(out / "messages.jsonl", [*answers, *interrupt(side, folder).items()])
        for run in sorted(folder.iterdir()):
            if run.is_dir():
                write_tree(out / f"{run.name}.txt", run, VOLATILE)


def interrupt(side: Side, folder: Path) -> dict[str, Answer]:
    """Train as in the case ``tiny``, but stopped by SIGTERM and by SIGKILL, and return the answers."""
    command = shlex.split(INTERRUPTED)
    answers = {}
    for step, number in ((5, signal.SIGTERM), (11, signal.SIGKILL)):
        process = side.start(*command, cwd=folder)
        while count_steps(folder / "interrupted/metrics.jsonl") < step and process.poll() is None:
            time.sleep(0.02)
        if process.poll() is None:
            os.killpg(process.pid, number)
        process.communicate()
        # The step at which it ended is another each time, so that only the exit code is recorded.
        answers[f"interrupted by {number.name}"] = Answer(b"", b"", process.returncode)
    answers["resumed"] = side.run(*command, cwd=folder)
    shutil.rmtree(
        folder / "interrupted" / "checkpoints"
    )  # they are of other steps than those of a whole training
    return answers


def count_steps(path: Path) -> int:
    """Return the last step in a file of metrics, or 0. The last line may be unfinished: it does not count."""
    lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
    steps = [json.loads(line)["step"] for line in lines if line.endswith("\n")]
    return max(steps, default=0)


def write_files(folder: Path, model: Path) -> None:
    """Write settings and text of the built-in corpus: pairs of sentences, and sentences with their kinds."""
    for path in CASES.glob("*.toml"):
        shutil.copy(path, folder)
    columns = {code: plain(model, 1160, code) for code in ("en", "de", "kinds")}
    for part, end in {"train": slice(0, 1100), "valid": slice(1100, 1160)}.items():
        for code in ("en", "de"):
            write_lines(folder / f"{part}.{code}", columns[code][end])
        rows = zip(columns["kinds"][end], columns["en"][end], strict=True)
        write_lines(folder / f"{part}.tsv", ["\t".join(row) for row in rows])
