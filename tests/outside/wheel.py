"""Examine the wheel of `make wheel`: its native code, and what a new user gets from it.

    make wheel
    python tests/outside/wheel.py dist/headway-*.whl --tools build/outside/wheel/bin [PART ...]

PART is one of:

    libraries     what the native code needs of the system, and that it exports nothing but its functions
    instructions  the disassembled code has the instructions of its variant, and no others
    emulator      the code runs on processors without newer instructions; needs qemu-x86_64
    materials     the software bill of materials is valid, and names the libraries by their digests
    start         installed in a new environment without a compiler, it translates at once; needs --model
    bits          it computes the same bits as code that is compiled on this machine; needs --model

The exit code is 1 if a promise is broken.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.ext.native.variants import LIBRARIES, SOURCES, VARIANTS, read_instruction_sets
from support.campaign import Campaign
from support.cases import read_rows

ROOT = Path(__file__).parents[2]
SENTENCE = "A man is walking his dog."
MOST_SECONDS = 2.0  # from the start of a command to its first translation, beyond importing torch
# Libraries that every system of the platform's tag has.
SYSTEM = {"libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6"}

# Instructions and registers by what a processor must have for them, as objdump prints them; which a variant may have,
# and which it must.
FAMILIES, ALLOWED, EXPECTED = (
    read_rows(__file__, name) for name in ("FAMILIES", "ALLOWED", "EXPECTED")
)
PRODUCTS_ONLY = {"VNNI", "bf16"}  # the code of training has no products
# A processor of qemu for each variant that it can run: the oldest that has all instructions.
EMULATED = {"x86-64": "Nehalem-v1", "avx2": "Haswell-v1"}


def run(*words, **options):
    """Return what a program prints; stop if it fails."""
    found = subprocess.run(words, capture_output=True, text=True, **options)
    if found.returncode:
        raise SystemExit(f"{words[0]} failed:\n{found.stdout[-3000:]}{found.stderr[-3000:]}")
    return str(found.stdout)


def name_of(library):
    """Return the library and the variant that a file name consists of."""
    name, _, variant = library.stem.partition("-")
    return name, variant


def examine_libraries(this):
    """Ask auditwheel and nm."""
    shown = run(this.options.tools / "auditwheel", "show", this.options.wheel)
    print(shown.strip())
    tag = re.search(r'consistent with\s+the following platform tag:\s+"manylinux_2_(\d+)_', shown)
    this.require(
        tag is not None and int(tag[1]) <= 28, "auditwheel finds nothing newer than manylinux_2_28"
    )
    expected = {
        name: set(
            re.findall(r"HEADWAY_EXPORT [\w* ]+?\b(\w+)\(", (SOURCES / f"{name}.cpp").read_text())
        )
        for name in LIBRARIES
    }
    machine = this.options.wheel.stem.rpartition("manylinux_2_28_")[2]
    names = {f"{name}-{variant.name}" for name in LIBRARIES for variant in VARIANTS[machine]}
    this.require(
        {path.stem for path in list_libraries(this)} == names,
        "the wheel has every variant of every library",
    )
    for path in list_libraries(this):
        needed = set(re.findall(r"NEEDED.*\[(.+)\]", run("readelf", "--dynamic", path)))
        symbols = run("nm", "--dynamic", "--defined-only", path)
        exported = {line.split()[-1].partition("@")[0] for line in symbols.splitlines()}
        versions = {
            tuple(map(int, found.split(".")))
            for found in re.findall(
                r"@GLIBC_([\d.]+)", run("nm", "--dynamic", "--undefined-only", path)
            )
        }
        newest = ".".join(map(str, max(versions)))
        print(
            f"{path.name}: {path.stat().st_size:,} bytes, glibc {newest}, needs {', '.join(sorted(needed))}"
        )
        this.require(needed <= SYSTEM, f"{path.name} needs only glibc and GCC's libraries")
        this.require(max(versions) <= (2, 28), f"{path.name} loads with glibc 2.28")
        extra = exported ^ expected[name_of(path)[0]]
        this.require(
            not extra, f"{path.name} exports its functions and nothing else {sorted(extra)[:5]}"
        )


def count_instructions(library):
    """Return how many instructions of each family a library has."""
    lines = run("objdump", "--disassemble", library).splitlines()
    return {
        family: sum(bool(re.search(pattern, line)) for line in lines)
        for family, pattern in FAMILIES.items()
    }


def examine_instructions(this):
    """Disassemble each library."""
    print("| library | " + " | ".join(FAMILIES) + " |\n" + "|---" * (len(FAMILIES) + 1) + "|")
    for path in list_libraries(this):
        counts = count_instructions(path)
        print(
            f"| {path.stem} | " + " | ".join(f"{n:,}" for n in counts.values()) + " |", flush=True
        )
        name, variant = name_of(path)
        leaked = [
            family for family in FAMILIES if counts[family] and family not in ALLOWED[variant]
        ]
        expected = {*EXPECTED[variant]} - (set() if name == "decoding" else PRODUCTS_ONLY)
        lost = [family for family in expected if not counts[family]]
        this.require(
            not leaked, f"{path.stem} has no instructions of {leaked or 'newer processors'}"
        )
        this.require(not lost, f"{path.stem} has the instructions that it is for {lost or ''}")


def examine_emulator(this):
    """Run the tests of the native functions on processors that know no newer instruction."""
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        raise SystemExit("this part needs qemu-x86_64 (Debian's package qemu-user)")
    for variant, processor in EMULATED.items():
        here = walk(this, variant)
        emulated = walk(this, variant, launcher=[emulator, "-cpu", processor])
        this.require(emulated == here, f"{variant} computes the same on a {processor} as here")


def examine_materials(this):
    """Validate the list of materials by the schema of its format."""
    [path] = this.content.glob("*.dist-info/sboms/*.cdx.json")
    program = (
        "import sys; from cyclonedx.schema import SchemaVersion; from cyclonedx.validation.json import"
        " JsonStrictValidator; print(JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read()))"
    )
    this.require(
        run(this.options.tools / "python", "-c", program, path).strip() == "None",
        "the list of materials is valid",
    )
    listed = {
        component["bom-ref"]: component["hashes"][0]["content"]
        for component in json.loads(path.read_text(encoding="utf-8"))["components"]
        if "hashes" in component
    }
    found = {
        str(path.relative_to(this.content)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in list_libraries(this)
    }
    this.require(listed == found, "the list of materials has each library with its digest")


def examine_start(this):
    """Install the wheel as a new user does, and translate a line."""
    model = needed_model(this)
    with tempfile.TemporaryDirectory() as directory:
        environment = Path(directory) / "environment"
        venv.create(environment, with_pip=True)
        python = environment / "bin" / "python"
        torch = run(
            sys.executable, "-c", "import torch; print(torch.__version__.partition('+')[0])"
        ).strip()
        index = ["--index-url", "https://download.pytorch.org/whl/cpu"]
        for words in ([f"torch=={torch}", *index], [str(this.options.wheel.absolute())]):
            run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words)
        bare = {
            "PATH": str(environment / "bin"), "HOME": directory, "HEADWAY_CACHE": str(Path(directory) / "cache"),
            "LANG": "C.UTF-8",
        }  # fmt: skip
        imports, translations, printed = [], [], ""
        for _ in range(this.options.repeats + 1):
            start = time.perf_counter()
            run(python, "-c", "import torch", env=bare)
            between = time.perf_counter()
            found = subprocess.run(
                [environment / "bin" / "headway", "translate", model], env=bare, input=SENTENCE + "\n",
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            translations.append(time.perf_counter() - between)
            imports.append(between - start)
            printed = found.stdout.strip() + (f" ({found.stderr.strip()})" if found.stderr else "")
        first = translations[0] - imports[0]
        later = statistics.median(translations[1:]) - statistics.median(imports[1:])
        print(f"{SENTENCE} -> {printed}")
        print(
            f"seconds beyond importing torch: {first:.2f} at first, {later:.2f} later (median of {this.options.repeats})"
        )
        this.require(
            "native code" not in printed,
            "the first translation is by native code, without a compiler",
        )
        this.require(
            later < MOST_SECONDS, f"it takes less than {MOST_SECONDS} s beyond importing torch"
        )
        this.require(not (Path(directory) / "cache").exists(), "nothing was compiled or stored")


def variants_here():
    """Return the variants that this processor can run."""
    available = read_instruction_sets()
    return [v.name for v in VARIANTS[platform.machine()] if not v.missing(available)]


def walk(this, variant, *words, launcher=(), installed=True):
    """Return the digests of `native_walk.py`, by a variant of the wheel, or by code compiled from the sources."""
    environment = {
        "HEADWAY_NATIVE": variant,
        "PYTHONPATH": str(this.content if installed else ROOT / "src"),
        "OMP_NUM_THREADS": "1",
    }
    script = Path(__file__).with_name("native_walk.py")
    found = run(*launcher, sys.executable, script, *words, env=os.environ | environment)
    print(f"{variant} {' '.join(launcher)}: {found.strip()}", flush=True)
    return found


def examine_bits(this):
    """Translate and train by the wheel's code and by code compiled here, and compare."""
    words = ("--model", needed_model(this))
    for variant in variants_here():
        found = {walk(this, variant, *words, installed=installed) for installed in (True, False)}
        promise = f"{variant}: the wheel's code and code compiled here give the same bits"
        this.require(len(found) == 1, promise)


PARTS: Mapping[str, Callable[["Wheels"], None]] = {
    "libraries": examine_libraries,
    "instructions": examine_instructions,
    "emulator": examine_emulator,
    "materials": examine_materials,
    "start": examine_start,
    "bits": examine_bits,
}


class Wheels(Campaign):
    """A wheel, unpacked into ``content``, whose parts are examined."""

    def work(self):
        """Examine the parts that the arguments name."""
        self.content = self.folder / "content"
        with zipfile.ZipFile(self.options.wheel) as archive:
            archive.extractall(self.content)
        for name in self.options.part or PARTS:
            print(f"\n{name}", flush=True)
            PARTS[name](self)

    def require(self, holds, promise):
        """Print whether a promise holds."""
        print(f"holds {promise}\n" * holds, end="", flush=True)
        self.expect(holds, f"BROKEN {promise}")


def list_libraries(this):
    """Return the native libraries."""
    return sorted(this.content.glob("headway/ext/native/prebuilt/*.so"))


def needed_model(this):
    """Return the directory of a model from English.

    Raises:
        SystemExit: If none was given.
    """
    if not this.options.model:
        raise SystemExit("this part needs --model MODEL")
    return Path(this.options.model).absolute()


if __name__ == "__main__":
    parts = {"nargs": "*", "choices": [[], *PARTS], "metavar": "PART"}
    tools = {"type": Path, "required": True, "help": "the directory of python and auditwheel"}
    Wheels.run(
        __doc__, {"wheel": Path, "part": parts, "--tools": tools, "--model": "", "--repeats": 5}
    )
