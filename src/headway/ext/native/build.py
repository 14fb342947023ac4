"""Compiles a native library at its first use, where no wheel brought it, and keeps it in the user's cache.

The name of a file contains digests of its sources, flags and compiler, so that a change of any of them
makes another file; the newest few are kept. Without a compiler, a file that any compiler has made of
the same sources is used.
"""

import hashlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from headway.ext.native.variants import TIMEOUT, Compiler, Variant, digest_sources, find_compiler
from headway.files import cache_directory

LOG = logging.getLogger("headway")
UNFINISHED = "building-"  # prefix of the directories of builds in progress
KEPT = 8  # builds of each library: for other processors, compilers and versions


def provide_library(source: Path, variants: Sequence[Variant]) -> Path:
    """Return a library in the cache, which is compiled if it is not there.

    Args:
        source: The C++ file.
        variants: What this processor can run. Only the first is built, unless the compiler does not
            know it.

    Raises:
        LookupError: If there is neither a compiler nor a library.
        subprocess.SubprocessError: If the compiler fails.
        OSError: If the cache cannot be written, or others may have written what is there.
    """
    compiler = find_compiler()
    if compiler is None:
        return _find_built(source, variants)
    for variant in variants:
        target = name_library(source, variant, compiler)
        if _is_intact(target):
            return target
        if not compiler.knows(variant):
            continue
        LOG.warning("compiling native/%s once for this machine: about ten seconds", source.name)
        _compile(compiler, source, variant, target)
        _prune(target.parent, source.stem)
        return target
    names = ", ".join(variant.name for variant in variants)
    raise LookupError(f"{' '.join(compiler.command)} can build none of the variants {names}")


def name_library(source: Path, variant: Variant, compiler: Compiler) -> Path:
    """Return the file of a library in the cache."""
    version = hashlib.sha256(" ".join((*compiler.command, compiler.version)).encode())
    name = f"{_prefix(source, variant)}{version.hexdigest()[:16]}.so"
    return cache_directory() / name


def _prefix(source: Path, variant: Variant) -> str:
    return f"{source.stem}-{variant.name}-{digest_sources(source, variant)}-"


def _find_built(source: Path, variants: Sequence[Variant]) -> Path:
    for variant in variants:
        for target in sorted(cache_directory().glob(f"{_prefix(source, variant)}*.so")):
            if _is_intact(target):
                return target
    raise LookupError("no C++ compiler (g++ or clang++) was found")


def _compile(compiler: Compiler, source: Path, variant: Variant, target: Path) -> None:
    """Compile beside the target and move the result there; several processes may do so at once."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _check_owner(target.parent)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=UNFINISHED) as directory:
        built = Path(directory) / target.name
        compiler.build(source, variant, built)
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
        if time.time() - _find_time(path) > 2 * TIMEOUT:
            shutil.rmtree(path, ignore_errors=True)
    builds = sorted(directory.glob(f"{name}-*.so"), key=_find_time, reverse=True)
    for path in builds[KEPT:]:
        for old in (path, path.with_suffix(".sha256")):
            old.unlink(missing_ok=True)


def _find_time(path: Path) -> float:
    """Return when a path was changed; now, if another process has just deleted it."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


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
