"""Variants of the native code: one for each kind of processor, compiled by the same flags everywhere.

A wheel holds all variants of its platform, and elsewhere a compiler makes one at first use. Both are
built by the same commands, so that the same compiler gives the same instructions and the same bits.
This file needs nothing but the standard library, because ``setup.py`` runs it.
"""

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LIBRARIES = ("training", "decoding")
SOURCES = Path(__file__).with_name("native")
EXPORTS = SOURCES.absolute() / "exports.map"
FLAGS = ("-O3", "-std=c++17", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fPIC",
         "-Wall", "-Wno-psabi")  # fmt: skip
# Libraries of a wheel are smaller, and equal in every build.
WHEEL = ("-Wl,--build-id=none", "-s")
TIMEOUT = 300  # seconds; a compilation takes about ten


@dataclass(frozen=True)
class Variant:
    """Native code for one kind of processor.

    Attributes:
        name: As in the names of files, and in ``HEADWAY_NATIVE``.
        flags: Of the compiler.
        needs: What the processor must have, as /proc/cpuinfo names it.
    """

    name: str
    flags: tuple[str, ...]
    needs: frozenset[str]

    def missing(self, available: frozenset[str]) -> list[str]:
        """Return what a processor with these instruction sets lacks."""
        return sorted(self.needs - available)


def _extend(name: str, base: Variant, flags: str, needs: str) -> Variant:
    return Variant(name, (*base.flags, *flags.split()), base.needs | set(needs.split()))


_X86 = Variant("x86-64", ("-march=x86-64",), frozenset())
_AVX2 = _extend(
    "avx2", _X86, "-mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt -mmovbe -mpopcnt",
    "avx avx2 fma f16c bmi1 bmi2 abm movbe popcnt",
)  # fmt: skip
_AVX512 = _extend(
    "avx512", _AVX2,
    "-mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl -mavx512vnni -mprefer-vector-width=512",
    "avx512f avx512bw avx512cd avx512dq avx512vl avx512_vnni",
)  # fmt: skip
# The fastest first.
VARIANTS = {
    "x86_64": (
        _extend("avx512bf16", _AVX512, "-mavx512bf16", "avx512_bf16"),
        _AVX512,
        _extend("avxvnni", _AVX2, "-mavxvnni", "avx_vnni"),
        _AVX2,
        _X86,
    ),
    "aarch64": (Variant("aarch64", ("-march=armv8-a",), frozenset()),),
}
# For any other processor, and where the instruction sets are not known; compiled only.
_IS_ARM = platform.machine().lower() in ("aarch64", "arm64")
NATIVE = Variant("native", ("-mcpu=native" if _IS_ARM else "-march=native",), frozenset())
GENERIC = Variant("generic", (), frozenset())  # for compilers that do not know what a processor has


def list_variants(machine: str, available: frozenset[str], wanted: str = "") -> list[Variant]:
    """Return the variants that a processor can run, the fastest first.

    Args:
        machine: As `platform.machine` names it; empty: unknown.
        available: The instruction sets of the processor.
        wanted: The only variant that may be returned; empty: any.

    Raises:
        LookupError: If there is no such variant, or the processor cannot run it.
    """
    known = VARIANTS.get(machine, (NATIVE, GENERIC))
    if not wanted:
        return [variant for variant in known if not variant.missing(available)]
    for variant in (*known, NATIVE):
        if variant.name == wanted:
            if missing := variant.missing(available):
                raise LookupError(
                    f"HEADWAY_NATIVE={wanted}: this processor has no {', '.join(missing)}"
                )
            return [variant]
    names = ", ".join(dict.fromkeys(variant.name for variant in (*known, NATIVE)))
    raise LookupError(f"HEADWAY_NATIVE={wanted}: must be 0, {names}, or not set")


def read_processor() -> str:
    """Return the processor's name and instruction sets."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    wanted = ("model name", "flags", "Features")
    return "\n".join(dict.fromkeys(line for line in lines if line.startswith(wanted)))


def read_instruction_sets() -> frozenset[str]:
    """Return the instruction sets that every core of the processor has."""
    found = re.findall(r"^(?:flags|Features)\s*: (.*)", read_processor(), re.MULTILINE)
    return frozenset.intersection(*(frozenset(line.split()) for line in found or [""]))


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler.

    Attributes:
        command: Its words.
        version: The first line that it prints for ``--version``.
    """

    command: tuple[str, ...]
    version: str

    def list_commands(
        self, source: Path, variant: Variant, target: Path, options: Sequence[str] = ()
    ) -> list[list[str]]:
        """Return the commands that build a library.

        Args:
            source: The C++ file.
            variant: What it is built for.
            target: The library.
            options: More options of the linker.
        """
        compiled = target.with_suffix(".o")
        # Clang's OpenMP needs a library that PyTorch does not have, so its builds have one thread.
        threads = "-fopenmp-simd" if "clang" in self.version else "-fopenmp"
        # On Linux, a library exports no names of C++, and is not linked with GCC's OpenMP: it takes the one
        # that PyTorch has loaded.
        linked = [f"-Wl,--version-script={EXPORTS}"] if sys.platform == "linux" else [threads]
        identity = f'-DHEADWAY_IDENTITY="{self.identify(source, variant)}"'
        return [
            [*self.command, *FLAGS, *variant.flags, threads, identity, "-c", source.name, "-o", str(compiled)],
            [*self.command, "-shared", str(compiled), *linked, *options, "-o", str(target)],
        ]  # fmt: skip

    def knows(self, variant: Variant) -> bool:
        """Return whether the compiler can build a variant."""
        words = [*self.command, *variant.flags, "-fsyntax-only", "-x", "c++", "-"]
        return not subprocess.run(
            words, input=b"", capture_output=True, timeout=TIMEOUT, check=False
        ).returncode

    def identify(self, source: Path, variant: Variant) -> str:
        """Return a name that builds of other sources, flags or compilers do not have."""
        return f"{variant.name} {digest_sources(source, variant)} {self.version}"

    def build(
        self, source: Path, variant: Variant, target: Path, options: Sequence[str] = ()
    ) -> None:
        """Build a library.

        Raises:
            subprocess.SubprocessError: If the compiler fails, or takes too long.
        """
        for command in self.list_commands(source, variant, target, options):
            subprocess.run(
                command, cwd=source.parent, check=True, capture_output=True, text=True, timeout=TIMEOUT
            )  # fmt: skip
        target.with_suffix(".o").unlink()


def find_compiler() -> Compiler | None:
    """Return the compiler that ``CXX`` names, else g++ or clang++ if there is one.

    Raises:
        OSError: If ``CXX`` names no program.
    """
    name = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if not name:
        return None
    command = tuple(shlex.split(name))
    printed = subprocess.run(
        [*command, "--version"], capture_output=True, text=True, timeout=TIMEOUT, check=False
    ).stdout
    return Compiler(command, printed.partition("\n")[0].replace('"', ""))


def digest_sources(source: Path, variant: Variant) -> str:
    """Return a digest of all that a build depends on, but for the compiler."""
    digest = hashlib.sha256()
    for path in _list_sources(source):
        digest.update(path.read_bytes())
    digest.update(" ".join((*FLAGS, *variant.flags, sys.platform)).encode())
    if variant is NATIVE:  # its flags mean another processor on another machine
        digest.update(read_processor().encode())
    return digest.hexdigest()[:16]


def _list_sources(path: Path) -> list[Path]:
    """Return a source file and all files of its folder that it includes, each once."""
    found = [path]
    for path in found:  # the loop appends to the list
        for name in re.findall(r'^#include "(.+)"', path.read_text("utf-8"), re.MULTILINE):
            if path.with_name(name) not in found:
                found.append(path.with_name(name))
    return found
