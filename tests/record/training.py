"""Trainings of a few steps: their metrics, weights and files."""

import shlex
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from side import write_messages, write_tree
from texts import CASES, plain, read_cases, write_lines

VOLATILE = ("run.json", "state.json", "timings.jsonl", "SHA256SUMS", ".lock")


def record(side, model, out):
    """Run each command, and write what is printed and what all of it leaves."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, model)
        commands = read_cases("training.txt")
        answers = [(line, side.run(*shlex.split(line), cwd=folder)) for line in commands]
        write_messages(out / "messages.jsonl", answers)
        for run in sorted(folder.iterdir()):
            if run.is_dir():
                write_tree(out / f"{run.name}.txt", run, VOLATILE)


def write_files(folder, model):
    """Write settings and text of the built-in corpus: pairs of sentences, and sentences with their kinds."""
    for path in CASES.glob("*.toml"):
        shutil.copy(path, folder)
    columns = {code: plain(model, 1160, code) for code in ("en", "de", "kinds")}
    for part, end in {"train": slice(0, 1100), "valid": slice(1100, 1160)}.items():
        for code in ("en", "de"):
            write_lines(folder / f"{part}.{code}", columns[code][end])
        rows = zip(columns["kinds"][end], columns["en"][end], strict=True)
        write_lines(folder / f"{part}.tsv", ["\t".join(row) for row in rows])
