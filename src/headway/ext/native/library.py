"""Loads the native libraries: those of the wheel, or those that a compiler has made on this machine.

``HEADWAY_NATIVE`` chooses a variant by its name (see `headway.ext.native.variants`); with 0 there is no
native code, and PyTorch computes the same.
"""

import ctypes
import functools
import os
import platform
import subprocess
import sys
from pathlib import Path

import torch

from headway.ext.native.variants import (
    LIBRARIES,
    SOURCES,
    Variant,
    list_variants,
    read_instruction_sets,
)

PREBUILT = Path(__file__).with_name("prebuilt")  # only wheels have it


def compile_native() -> dict[str, str]:
    """Load all native code, and compile what the wheel has not; a model does so when it first needs it.

    Returns:
        The reason for each library that cannot be built on this machine, by its name.
    """
    reasons = {name: failure_reason(name) for name in LIBRARIES}
    return {name: reason for name, reason in reasons.items() if reason}


@functools.cache
def load_library(name: str) -> ctypes.CDLL | None:
    """Return the functions of ``native/NAME.cpp``; None if this machine has no such library."""
    return _load(name)[0]


def failure_reason(name: str) -> str:
    """Return why `load_library` returns None for this name, or an empty text."""
    return _load(name)[1]


def prepare(work: str) -> str:
    """Compile what "training" or "decoding" needs, and say in one line why native code is missing, if it is.

    A training translates, too, and a signal during a validation would wait for the compiler.
    """
    if work == "training":
        compile_native()
    reason = failure_reason(work)
    return f"native code is missing, so this is slower: {reason}" if reason else ""


def build_id(name: str) -> str:
    """Return the variant, a digest of the sources, and the compiler of a library; empty without it."""
    library = load_library(name)
    if library is None:
        return ""
    library.build_identity.restype = ctypes.c_char_p
    return str(library.build_identity().decode())


@functools.cache
def _load(name: str) -> tuple[ctypes.CDLL | None, str]:
    source = SOURCES / f"{name}.cpp"
    try:
        variants = choose_variants()
        share_openmp()
        for variant in variants:
            if (packaged := PREBUILT / f"{name}-{variant.name}.so").is_file():
                return ctypes.CDLL(str(packaged)), ""
        from headway.ext.native.build import provide_library

        return ctypes.CDLL(str(provide_library(source, variants))), ""
    except LookupError as error:
        return None, str(error.args[0])
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        detail = getattr(error, "stderr", None) or str(error)
        return None, f"{source.name} could not be built or loaded: {str(detail).strip()[-500:]}"


def choose_variants() -> list[Variant]:
    """Return the variants that this process may use, the fastest first.

    Raises:
        LookupError: If ``HEADWAY_NATIVE`` forbids native code, or names a variant that cannot be used.
    """
    wanted = os.environ.get("HEADWAY_NATIVE", "")
    if wanted == "0":
        raise LookupError("HEADWAY_NATIVE=0")
    machine = platform.machine() if sys.platform == "linux" else ""
    return list_variants(machine, read_instruction_sets(), wanted)


def share_openmp() -> None:
    """Let native libraries find the OpenMP library that PyTorch uses; two would compete for the cores.

    Most builds of PyTorch make its functions global themselves; then nothing changes.
    """
    if sys.platform != "linux" or hasattr(ctypes.CDLL(None), "GOMP_parallel"):
        return
    folder = Path(torch.__file__).parent
    bundled = [*folder.glob("lib/libgomp*.so*"), *folder.parent.glob("torch.libs/libgomp*.so*")]
    for library in [*map(str, sorted(bundled)), "libgomp.so.1"]:
        try:
            ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
        return
