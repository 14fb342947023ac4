"""A checkout of Headway that is asked by its command alone, and what is written of its answers."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# Roots of absolute paths: those of this machine, and the usual ones.
ROOTS = {path.parts[1] for path in (Path(__file__).resolve(), Path(tempfile.gettempdir()))}
ROOTS |= {"home", "private", "root", "tmp", "Users", "usr", "var"}
VOLATILE = (
    (re.compile(rf"/(?:{'|'.join(sorted(ROOTS))})(?:/[\w.+@=-]+)*/"), ".../"),
    (re.compile(r"\b(127\.0\.0\.1|localhost|\[::1\]):\d+"), r"\1:PORT"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"\b(process|pid|PID) \d+\b"), r"\1 NUMBER"),
    (re.compile(r"\b([Hh]eadway[ /])\d+\.\d+\.\d+\b"), r"\1VERSION"),
    (re.compile(r"\b[\d,.]+ (lines|words|tokens|target tokens|pairs)(/s| a second)"), r"NUMBER \1\2"),
    (re.compile(r"\b\d+ h(?: \d+ min)?\b|\b[\d,.]+ (?:ms|s|min|seconds|minutes)\b"), "DURATION"),
    (re.compile(r"\b[\d,.]+ [kMGT]B\b"), "SIZE"),
)  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What a process wrote and its exit code."""

    out: bytes
    err: bytes
    code: int


@dataclass(frozen=True)
class Side:
    """A checkout, and the Python that runs it.

    Args:
        name: "before" or "after".
        checkout: The directory that holds ``src/headway``.
        cache: The cache directory of this side; None: the user's.
    """

    name: str
    checkout: Path
    cache: Path | None = None

    def run(
        self,
        *arguments: str | Path,
        stdin: bytes = b"",
        cwd: Path | None = None,
        timeout: float = 600,
    ) -> Answer:
        """Run ``headway ARGUMENTS`` and return its answer."""
        return self._answer(["-m", "headway", *arguments], stdin, cwd, timeout)

    def python(
        self,
        script: str,
        *arguments: str | Path,
        stdin: bytes = b"",
        cwd: Path | None = None,
        timeout: float = 600,
    ) -> Answer:
        """Run a script of Python, which finds the arguments in ``sys.argv[1:]``, and return its answer."""
        return self._answer(["-c", script, *arguments], stdin, cwd, timeout)

    def start(self, *arguments: str | Path, cwd: Path | None = None) -> subprocess.Popen[bytes]:
        """Start ``headway ARGUMENTS``, such as a server, and return its process."""
        return subprocess.Popen(
            [self._interpreter(), "-m", "headway", *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=cwd, env=self._environment(), start_new_session=True,
        )  # fmt: skip

    def _answer(
        self, arguments: list[str | Path], stdin: bytes, cwd: Path | None, timeout: float
    ) -> Answer:
        done = subprocess.run(
            [self._interpreter(), *map(str, arguments)],
            input=stdin, capture_output=True, cwd=cwd, env=self._environment(), timeout=timeout,
        )  # fmt: skip
        return Answer(done.stdout, done.stderr, done.returncode)

    def _interpreter(self) -> str:
        own = self.checkout / ".venv" / "bin" / "python"
        return str(own) if own.exists() else sys.executable

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY")}
        if self.cache:
            kept["HEADWAY_CACHE"] = str(self.cache)
        return kept | {
            "PYTHONPATH": str(self.checkout / "src"), "OMP_NUM_THREADS": "1", "COLUMNS": "100",
            "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "LC_ALL": "C.UTF-8",
            "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9",
        }  # fmt: skip


def scrub(text: str) -> str:
    """Replace what differs between two runs of the same program: absolute paths, ports, times, speeds and versions.

    It would also hide changes of such words in a translation: use it for messages only.
    """
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return text


def write_messages(path: Path, answers: Iterable[tuple[str, Answer]]) -> None:
    """Write a line of JSON for each case: its name, exit code and what it printed, scrubbed."""
    rows = (
        {"case": case, "code": answer.code, "out": scrub(answer.out.decode()), "err": scrub(answer.err.decode())}
        for case, answer in answers
    )  # fmt: skip
    write_json(path, rows)


def write_json(path: Path, rows: Iterable[object]) -> None:
    """Write a line of JSON for each row."""
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    path.write_text(text, encoding="utf-8", newline="\n")
