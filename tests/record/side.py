"""A checkout of Headway that is asked by its command alone, and what is written of its answers."""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, repeat
from pathlib import Path

FORKS = Path(__file__).with_name("forks.py")
PATIENCE = 3600.0  # seconds for a command; a busy machine is slow
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

    def run(self, *arguments, stdin=b"", cwd=None, timeout=PATIENCE):
        """Run ``headway ARGUMENTS`` and return its answer."""
        return self._answer(["-m", "headway", *arguments], stdin, cwd, timeout)

    def python(self, script, *arguments, stdin=b"", cwd=None, timeout=PATIENCE):
        """Run a script of Python, which finds the arguments in ``sys.argv[1:]``, and return its answer."""
        return self._answer(["-c", script, *arguments], stdin, cwd, timeout)

    def run_each(self, cases, cwd, stdin=()):
        """Run ``headway`` with the arguments of each case, in a directory, and return the answers.

        It costs less than ``run`` where a command ends soon, such as with an error.

        Args:
            cases: Arguments of each command.
            cwd: The directory in which all of them run.
            stdin: What each reads from standard input; commands beyond its end read nothing.
        """
        given = zip(cases, chain(stdin, repeat(b"")), strict=False)
        rows = [[[*map(str, case)], str(cwd), text.decode("latin-1")] for case, text in given]
        answers = self._answer(["-P", FORKS], json.dumps(rows).encode(), None, PATIENCE)
        assert not answers.code, answers.err.decode()
        return [
            Answer(*(text.encode("latin-1") for text in texts), code)
            for *texts, code in json.loads(answers.out)
        ]

    def _answer(self, arguments, stdin, cwd, timeout):
        done = subprocess.run(
            [self._interpreter(), *map(str, arguments)],
            input=stdin, capture_output=True, cwd=cwd, env=self.environment(), timeout=timeout,
        )  # fmt: skip
        return Answer(done.stdout, done.stderr, done.returncode)

    def _interpreter(self):
        own = self.checkout / ".venv" / "bin" / "python"
        return str(own) if own.exists() else sys.executable

    def command(self, *arguments):
        """Return the words that start ``headway ARGUMENTS``."""
        return [self._interpreter(), "-m", "headway", *map(str, arguments)]

    def environment(self):
        """Return the variables of its processes."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY")}
        if self.cache:
            kept["HEADWAY_CACHE"] = str(self.cache)
        return kept | {
            "PYTHONPATH": str(self.checkout / "src"), "OMP_NUM_THREADS": "1", "COLUMNS": "100",
            "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "LC_ALL": "C.UTF-8",
            "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9",
        }  # fmt: skip


def scrub(text):
    """Replace what differs between two runs of the same program: absolute paths, ports, times, speeds and versions.

    It would also hide changes of such words in a translation: use it for messages only.
    """
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return text


def write_tree(path, folder, names_only=()):
    """Write a list of the files of a directory: the lines of text, scrubbed, and digests of the rest.

    Args:
        path: The list.
        folder: The directory.
        names_only: Names of files whose content differs between two runs of the same program.
    """
    lines = []
    for file in sorted(folder.rglob("*")):
        if not file.is_file():
            continue
        name, content = file.relative_to(folder).as_posix(), file.read_bytes()
        if file.name in names_only:
            lines.append(name)
        elif file.suffix in (".json", ".jsonl", ".txt", ".md"):
            text = scrub(content.decode())
            text = re.sub(r'("headway": ")[^"]*"', r'\1VERSION"', text)
            lines += [f"{name}: {line}" for line in text.splitlines()]
        elif file.suffix == ".safetensors":
            lines += [f"{name}: {line}" for line in describe_weights(content)]
        else:
            lines.append(f"{name}: {len(content)} bytes, sha256 {sha256(content).hexdigest()}")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def describe_weights(content):
    """Return a line for each array of a safetensors file: name, type, shape and digest."""
    size = int.from_bytes(content[:8], "little")
    data = content[8 + size :]
    return [
        f"{name} {array['dtype']} {array['shape']} {sha256(data[slice(*array['data_offsets'])]).hexdigest()}"
        for name, array in sorted(json.loads(content[8 : 8 + size]).items())
        if name != "__metadata__"
    ]


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
