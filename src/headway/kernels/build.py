"""Compiles the native functions once for each machine, and loads them.

A library is stored in the user's cache. Its name contains digests of its sources, flags, processor
and compiler, so that a change of any of them makes another file; the newest few are kept. Without a
compiler, a library that any compiler has built from the same sources is loaded. Without that, or
with ``HEADWAY_NATIVE=0``, there is no native code, and plain torch computes the same.
"""

import ctypes
import functools
import hashlib
import logging
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

LOG = logging.getLogger("headway")
LIBRARIES = ("training", "decoding")
SOURCES = Path(__file__).with_name("native")
PROCESSOR = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
FLAGS = ("-O3", PROCESSOR, "-std=c++17", "-fno-math-errno", "-fno-trapping-math",
         "-ffp-contract=fast", "-fPIC", "-shared", "-Wall")  # fmt: skip
TIMEOUT = 300  # seconds; a build takes about ten
UNFINISHED = "building-"  # prefix of the directories of builds in progress
KEPT = 8  # builds of each library: for other processors, compilers and versions


def compile_native() -> dict[str, str]:
    """Compile and load all native code, which otherwise happens when a model first needs it.

    Returns:
        The reason for each library that cannot be built on this machine, by its name.
    """
    reasons = {name: failure_reason(name) for name in LIBRARIES}
    return {name: reason for name, reason in reasons.items() if reason}


@functools.cache
def load_library(name: str) -> ctypes.CDLL | None:
    """Return the functions of ``native/NAME.cpp``, compiled if need be; None if that failed."""
    return _load(name)[0]


def failure_reason(name: str) -> str:
    """Return why `load_library` returns None for this name, or an empty text."""
    return _load(name)[1]


def build_id(name: str) -> str:
    """Return a name that no other build of the library has; empty without a library."""
    library = load_library(name)
    return Path(library._name).stem if library is not None else ""


@functools.cache
def _load(name: str) -> tuple[ctypes.CDLL | None, str]:
    try:
        command, target = _plan(name)
        if not _is_intact(target):
            LOG.warning("compiling native/%s.cpp once for this machine: about ten seconds", name)
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
    """Return the command that compiles a library, and the library's path.

    Raises:
        LookupError: If native code is switched off, or there is neither a compiler nor a library.
    """
    if os.environ.get("HEADWAY_NATIVE") == "0":
        raise LookupError("HEADWAY_NATIVE=0")
    sources = _sources(SOURCES / f"{name}.cpp")
    # torch's own OpenMP library: the threads of two would compete for the cores.
    runtime = sorted((Path(torch.__file__).parent / "lib").glob("libgomp*.so*"))[:1]
    digest = _digest(*(path.read_bytes() for path in sources), *FLAGS, processor(), sys.platform)
    stem = f"{name}-{digest}"
    if not _compiler():
        for target in sorted(cache_directory().glob(f"{stem}-*.so")):
            if _is_intact(target):
                return [], target
        raise LookupError("no C++ compiler (g++ or clang++) was found")
    command = shlex.split(_compiler())
    version = subprocess.run(
        [*command, "--version"], capture_output=True, text=True, timeout=TIMEOUT
    ).stdout
    command += [*FLAGS, str(sources[0])]
    if "clang" in version:  # clang has another OpenMP library than torch: one thread
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
    """Return a source file and all files of this folder that it includes, each once."""
    found = [path]
    for path in found:  # the loop appends to the list
        for name in re.findall(r'^#include "(.+)"', path.read_text("utf-8"), re.MULTILINE):
            if path.with_name(name) not in found:
                found.append(path.with_name(name))
    return found


def _compile(command: list[str], target: Path) -> None:
    """Compile beside the target and move the result there; several processes may do so at once."""
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
    """Delete old builds of a library, and the directories of interrupted builds.

    A process that uses a deleted library keeps it.
    """
    for path in directory.glob(f"{UNFINISHED}*"):
        if time.time() - path.stat().st_mtime > 2 * TIMEOUT:
            shutil.rmtree(path, ignore_errors=True)
    builds = sorted(directory.glob(f"{name}-*.so"), key=lambda path: -path.stat().st_mtime)
    for path in builds[KEPT:]:
        for old in (path, path.with_suffix(".sha256")):
            old.unlink(missing_ok=True)


def _is_intact(target: Path) -> bool:
    """Whether the library exists with the right digest, and only this user can have written it."""
    digest = target.with_suffix(".sha256")
    if not target.is_file() or not digest.is_file():
        return False
    for path in (target.parent, target):
        _check_owner(path)
    return digest.read_text("ascii") == hashlib.sha256(target.read_bytes()).hexdigest()


def _check_owner(path: Path) -> None:
    """Raise an OSError if another user could have written a file whose code will run."""
    if not hasattr(os, "geteuid"):
        return
    about = path.stat()
    if about.st_uid != os.geteuid() or about.st_mode & 0o022:
        raise OSError(f"{path} belongs to or can be written by others; set HEADWAY_CACHE")


def processor() -> str:
    """Return the processor's name and instruction sets."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    wanted = ("model name", "flags", "Features")
    return "\n".join(dict.fromkeys(line for line in lines if line.startswith(wanted)))
