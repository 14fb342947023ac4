"""Commands that are asked, each in a fork of this process, and what is written of their answers."""

import json
import os
import re
import runpy
import sys
import tempfile
import traceback
import warnings
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

# What the processes find in their environment.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "COLUMNS": "100", "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "LC_ALL": "C.UTF-8",
    "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9",
}  # fmt: skip
# Roots of absolute paths: those of this machine, and the usual ones.
ROOTS = {path.parts[1] for path in (Path(__file__).resolve(), Path(tempfile.gettempdir()))}
ROOTS |= {"home", "private", "root", "tmp", "Users", "usr", "var"}
VOLATILE = (
    (re.compile(rf"(?<![\w.])/(?:{'|'.join(sorted(ROOTS))})(?:/[\w.+@=-]+)*/"), ".../"),
    (re.compile(r"\b(127\.0\.0\.1|localhost|\[::1\]):\d+"), r"\1:PORT"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"^(?:headway: )?(?:compiling native/|step \d+/).*\n", re.M), ""),
    (re.compile(r"\b(process|pid|PID) \d+\b"), r"\1 NUMBER"),
    (re.compile(r"\b([Hh]eadway[ /])\d+\.\d+\.\d+\b"), r"\1VERSION"),
    (re.compile(r"\b(version|sacremoses):[\d.]+"), r"\1:VERSION"),  # of sacreBLEU's signatures
    (re.compile(r"\b[\d,.]+ (lines|words|tokens|target tokens|pairs)(/s| a second)"), r"NUMBER \1\2"),
    (re.compile(r"\b\d+ h(?: \d+ min)?\b|\b[\d,.]+ (?:ms|s|min|seconds|minutes)\b"), "DURATION"),
    (re.compile(r"\b[\d,.]+ [kMGT]B\b"), "SIZE"),
)  # fmt: skip


class Answer(NamedTuple):
    """What a process wrote and its exit code."""

    out: bytes
    err: bytes
    code: int


def run_each(cases, cwd):
    """Run ``headway`` with the arguments of each case and return the answers.

    All run one after the other in one fork of this process, which has imported what most need: that takes seconds.

    Args:
        cases: Arguments of each command.
        cwd: The directory in which all of them run.
    """
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the threads of this process, and all in the new one
        folder = Path(name)
        child = os.fork()
        if not child:
            os.chdir(cwd)
            codes = [_run(case, folder / str(number)) for number, case in enumerate(cases)]
            (folder / "codes").write_text(json.dumps(codes))
            os._exit(0)  # to take down what was imported costs seconds, too
        os.waitpid(child, 0)
        codes = json.loads((folder / "codes").read_text())
        return [
            Answer(
                (folder / f"{number}out").read_bytes(), (folder / f"{number}err").read_bytes(), code
            )
            for number, code in enumerate(codes)
        ]


def _run(arguments, path):
    """Run ``headway ARGUMENTS`` in this process, with files for its output and errors, and return its exit code."""
    flags = os.O_CREAT | os.O_RDWR
    for number, file in enumerate((os.devnull, f"{path}out", f"{path}err")):
        os.dup2(os.open(file, flags), number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(n, "w", encoding="utf-8", closefd=False) for n in (1, 2))
    sys.argv = ["headway", *arguments]
    code = 0
    try:
        runpy.run_module("headway", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def scrub(text):
    """Replace what differs between two runs of the same program: absolute paths, ports, times, speeds and versions.

    It would also hide changes of such words in a translation: use it for messages only.
    """
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return text


def write_tree(path, folder):
    """Write a list of the files of a directory: the lines of text, scrubbed, and digests of the rest."""
    lines = []
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        name, content = file.relative_to(folder).as_posix(), file.read_bytes()
        if file.suffix in (".json", ".jsonl", ".txt"):
            text = re.sub(r'("headway": ")[^"]*"', r'\1VERSION"', scrub(content.decode()))
            lines += [f"{name}: {line}" for line in text.splitlines()]
        else:
            lines.append(f"{name}: {len(content)} bytes, sha256 {sha256(content).hexdigest()}")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def write_messages(path, answers):
    """Write a line of JSON for each case: its name, exit code and what it printed, scrubbed."""
    rows = (
        {"case": case, "code": answer.code, "out": scrub(answer.out.decode()), "err": scrub(answer.err.decode())}
        for case, answer in answers
    )  # fmt: skip
    write_json(path, rows)


def write_json(path, rows):
    """Write a line of JSON for each row."""
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    path.write_text(text, encoding="utf-8", newline="\n")
