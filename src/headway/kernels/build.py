"""Compiles the native functions once a machine and loads them; without a compiler there are none.

The library lies in the user's cache, under a name made of its sources, its flags and the processor,
and of the compiler, so that a change of any makes another; the last few are kept. Where there is no
compiler, what any has built of the same is taken. ``HEADWAY_NATIVE=0`` leaves it out.
"""

import ctypes
import functools
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from headway.files import cache_directory

SOURCES = Path(__file__).with_name("native")
PROCESSOR = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
FLAGS = ("-O3", PROCESSOR, "-std=c++17", "-fno-math-errno", "-fno-trapping-math",
         "-ffp-contract=fast", "-fPIC", "-shared", "-Wall")  # fmt: skip
TIMEOUT = 300  # seconds; it takes some ten
UNFINISHED = "building-"  # begins the names of folders that a build lies in until it is whole
KEPT = 8  # builds of a library: for other processors, compilers and versions


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


def pending(name: str) -> bool:
    """Whether `library` will have to compile it first."""
    try:
        return not _whole(_plan(name)[1])
    except (LookupError, OSError, ValueError, subprocess.SubprocessError):
        return False


@functools.cache
def _load(name: str) -> tuple[ctypes.CDLL | None, str]:
    try:
        command, target = _plan(name)
        if not _whole(target):
            _compile(command, target)
            _prune(target.parent, name)
        return ctypes.CDLL(str(target)), ""
    except LookupError as error:
        return None, str(error.args[0])
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        detail = getattr(error, "stderr", None) or str(error)
        return None, f"{_compiler()} could not build {name}.cpp: {str(detail).strip()[-500:]}"


def _compiler() -> str:
    return os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++") or ""


def _plan(name: str) -> tuple[list[str], Path]:
    """Return the command that compiles a library, and where the library is to lie.

    Raises:
        LookupError: If there is to be none.
    """
    if os.environ.get("HEADWAY_NATIVE") == "0":
        raise LookupError("HEADWAY_NATIVE=0")
    sources = _sources(SOURCES / f"{name}.cpp")
    # torch brings this OpenMP library itself; two in one process fight over the cores.
    runtime = sorted((Path(torch.__file__).parent / "lib").glob("libgomp*.so*"))[:1]
    own = _digest(*(path.read_bytes() for path in sources), *FLAGS, processor(), sys.platform)
    stem = f"{name}-{own}"
    if not _compiler():
        for target in sorted(cache_directory().glob(f"{stem}-*.so")):
            if _whole(target):
                return [], target
        raise LookupError("no C++ compiler (g++ or clang++) was found")
    command = shlex.split(_compiler())
    version = subprocess.run(
        [*command, "--version"], capture_output=True, text=True, timeout=TIMEOUT
    ).stdout
    command += [*FLAGS, str(sources[0])]
    if "clang" in version:  # its OpenMP library is none of torch's: one thread
        command += ["-fopenmp-simd"]
    else:
        command += ["-fopenmp", *map(str, runtime)]
    return command, cache_directory() / f"{stem}-{_digest(*command, version)}.so"


def _digest(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.encode())
    return digest.hexdigest()[:16]


def _sources(path: Path) -> list[Path]:
    """Return a source and all that it includes of ours, each once."""
    found = [path]
    for path in found:  # grows on the way
        for name in re.findall(r'^#include "(.+)"', path.read_text("utf-8"), re.MULTILINE):
            if path.with_name(name) not in found:
                found.append(path.with_name(name))
    return found


def _compile(command: list[str], target: Path) -> None:
    """Compile beside the target and move it there: two processes may do so at once."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _check_owner(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=UNFINISHED) as directory:
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


def _prune(directory: Path, name: str) -> None:
    """Delete all builds of a library but the newest, and what killed ones left.

    Who uses a library keeps it.
    """
    for path in directory.glob(f"{UNFINISHED}*"):
        if time.time() - path.stat().st_mtime > 2 * TIMEOUT:
            shutil.rmtree(path, ignore_errors=True)
    builds = sorted(directory.glob(f"{name}-*.so"), key=lambda path: -path.stat().st_mtime)
    for path in builds[KEPT:]:
        for old in (path, path.with_suffix(".sha256")):
            old.unlink(missing_ok=True)


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


def processor() -> str:
    """Return what tells processors apart for a compiler: name and instruction sets."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    wanted = ("model name", "flags", "Features")
    return "\n".join(dict.fromkeys(line for line in lines if line.startswith(wanted)))
