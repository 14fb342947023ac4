"""Compiles the native functions once a machine and loads them; without a compiler there are none.

The library lies in the user's cache, under a name made of its sources, its compiler, its flags and
the processor, so that a change of any makes another. ``HEADWAY_NATIVE=0`` leaves it out.
"""

import ctypes
import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

SOURCES = Path(__file__).with_name("native")
FLAGS = ("-O3", "-march=native", "-std=c++17", "-fopenmp", "-fno-math-errno", "-fno-trapping-math",
         "-ffp-contract=fast", "-fPIC", "-shared", "-Wall")  # fmt: skip
TIMEOUT = 300  # seconds; it takes some ten


@functools.cache
def library(name: str) -> ctypes.CDLL | None:
    """Return the native functions of ``native/NAME.cpp``; None where they cannot be had.

    Why they cannot is told by `why_not`.
    """
    return _load(name)[0]


def why_not(name: str) -> str:
    """Return why `library` gives None for this name, or an empty text."""
    return _load(name)[1]


def identity(name: str) -> str:
    """Return what tells one build of a library from another; empty without one."""
    found = library(name)
    return Path(found._name).stem if found is not None else ""


@functools.cache
def _load(name: str) -> tuple[ctypes.CDLL | None, str]:
    if os.environ.get("HEADWAY_NATIVE") == "0":
        return None, "HEADWAY_NATIVE=0"
    found = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if not found:
        return None, "no C++ compiler (g++ or clang++) was found"
    # torch brings its own OpenMP library; two of them in one process fight over the cores.
    runtime = sorted((Path(torch.__file__).parent / "lib").glob("libgomp*.so*"))[:1]
    source = SOURCES / f"{name}.cpp"
    try:
        command = [*shlex.split(found), *FLAGS, str(source), *map(str, runtime)]
        target = cache_directory() / f"{name}-{_fingerprint(command)}.so"
        if not _whole(target):
            _compile(command, target)
        return ctypes.CDLL(str(target)), ""
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        detail = getattr(error, "stderr", None) or str(error)
        return None, f"{found} could not build {source.name}: {str(detail).strip()[-500:]}"


def cache_directory() -> Path:
    """Return where compiled libraries lie: $HEADWAY_CACHE, else the user's cache."""
    given = os.environ.get("HEADWAY_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(given) if given else Path(base).expanduser() / "headway"


def _compile(command: list[str], target: Path) -> None:
    """Compile beside the target and move it there: two processes may do so at once."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _check_owner(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent) as directory:
        built = Path(directory) / target.name
        subprocess.run(
            [*command, "-o", str(built)],
            check=True, capture_output=True, text=True, timeout=TIMEOUT,
        )  # fmt: skip
        built.chmod(0o700)
        digest = built.with_suffix(".sha256")
        digest.write_text(hashlib.sha256(built.read_bytes()).hexdigest(), encoding="ascii")
        digest.replace(target.with_suffix(".sha256"))
        built.replace(target)


def _whole(target: Path) -> bool:
    """Whether the library is there, uncut, and nobody else could have written it."""
    digest = target.with_suffix(".sha256")
    if not target.is_file() or not digest.is_file():
        return False
    for path in (target.parent, target):
        _check_owner(path)
    return digest.read_text("ascii") == hashlib.sha256(target.read_bytes()).hexdigest()


def _check_owner(path: Path) -> None:
    """Refuse what another user could have written: it would be run."""
    if not hasattr(os, "geteuid"):
        return
    about = path.stat()
    if about.st_uid != os.geteuid() or about.st_mode & 0o022:
        raise OSError(f"{path} belongs to or can be written by others; set HEADWAY_CACHE")


def _fingerprint(command: list[str]) -> str:
    digest = hashlib.sha256()
    for path in sorted(SOURCES.iterdir()):
        digest.update(path.read_bytes())
    version = subprocess.run(
        [command[0], "--version"], capture_output=True, text=True, timeout=TIMEOUT
    ).stdout
    for part in (*command, version, processor(), sys.platform):
        digest.update(part.encode())
    return digest.hexdigest()[:16]


def processor() -> str:
    """Return what tells processors apart for a compiler: name and instruction sets."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    wanted = ("model name", "flags", "Features")
    return "\n".join(dict.fromkeys(line for line in lines if line.startswith(wanted)))
