"""Adds native code to the wheel, if ``HEADWAY_WHEEL`` names the platform: see "Wheels" in CONTRIBUTING.md.

Without it, the package is pure Python, and a compiler builds the native code at its first use.
"""

import hashlib
import json
import os
import platform
import re
import runpy
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

MACHINE = os.environ.get("HEADWAY_WHEEL", "")  # such as x86_64
PLATFORM = f"manylinux_2_28_{MACHINE}"
# Of symbols on systems of this platform.
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11)}
NATIVE = runpy.run_path("src/headway/ext/native/variants.py")


class Package(Distribution):
    """Headway."""

    def has_ext_modules(self) -> bool:
        """Whether the package is for one platform, which decides where a wheel keeps its files."""
        return bool(MACHINE)


class BuildPackage(build_py):
    """Copies the package, and builds all native libraries of the platform into it."""

    def run(self) -> None:
        """Build the package."""
        super().run()
        if not MACHINE:
            return
        if MACHINE not in NATIVE["VARIANTS"]:
            raise SystemExit(f"HEADWAY_WHEEL={MACHINE}: must be {' or '.join(NATIVE['VARIANTS'])}")
        compiler = NATIVE["find_compiler"]()
        if compiler is None:
            raise SystemExit("no C++ compiler (g++ or clang++) was found; CXX names one")
        if "clang" in compiler.version or platform.libc_ver()[0] != "glibc":
            raise SystemExit("a wheel with native code needs GCC (for its threads) and glibc")
        folder = Path(self.build_lib) / "headway" / "ext" / "native" / "prebuilt"
        shutil.rmtree(folder, ignore_errors=True)  # of another platform
        folder.mkdir()
        builds = [
            (NATIVE["SOURCES"] / f"{name}.cpp", variant, folder.absolute() / f"{name}-{variant.name}.so")
            for name in NATIVE["LIBRARIES"]
            for variant in NATIVE["VARIANTS"][MACHINE]
        ]  # fmt: skip
        try:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(lambda build: compiler.build(*build, NATIVE["WHEEL"]), builds))
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"{shlex.join(error.cmd)} failed:\n{error.stderr}") from None
        for _, _, library in builds:
            check_versions(library)


def check_versions(library: Path) -> None:
    """Check that a library loads on every system that the name of the platform promises.

    Raises:
        SystemExit: If it needs a newer version of a system library.
    """
    for name, newest in NEWEST.items():
        found = re.findall(rb"\0%s_([\d.]+)\0" % name.encode(), library.read_bytes())
        versions = {tuple(map(int, version.decode().split("."))) for version in found}
        if newer := sorted(version for version in versions if version > newest):
            version = ".".join(map(str, newer[-1]))
            raise SystemExit(
                f"{library.name} needs {name} {version}, which {PLATFORM} does not have"
            )


class BuildWheel(bdist_wheel):
    """Names the platform of the wheel, and lists its native code in a software bill of materials."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tags of the wheel's name: native code needs no particular Python."""
        return ("py3", "none", PLATFORM) if MACHINE else super().get_tag()

    def write_wheelfile(self, base: str, *arguments: Any) -> None:
        """Write the metadata of the wheel.

        Args:
            base: The directory of the metadata.
            arguments: The name of the generator, if it is given.
        """
        super().write_wheelfile(base, *arguments)
        if MACHINE:
            sboms = Path(base) / "sboms"
            sboms.mkdir()
            text = json.dumps(self.list_materials(), indent=2) + "\n"
            (sboms / "headway.cdx.json").write_text(text, encoding="utf-8")

    def list_materials(self) -> dict[str, Any]:
        """Return what the wheel is made of, in the format CycloneDX 1.6."""
        root = Path(self.bdist_dir)
        version = NATIVE["find_compiler"]().version
        about = self.distribution.metadata
        libraries = [
            {
                "type": "library",
                "bom-ref": str(path.relative_to(root)),
                "name": path.name,
                "version": about.version,
                "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "properties": [{"name": "headway:compiler", "value": version}],
            }
            for path in sorted(root.glob("headway/ext/native/prebuilt/*.so"))
        ]  # fmt: skip
        package = {
            "type": "library",
            "bom-ref": "headway",
            "name": about.name,
            "version": about.version,
            "purl": f"pkg:pypi/{about.name}@{about.version}",
            "licenses": [{"license": {"id": "Apache-2.0"}}],
        }
        return {
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {"component": package},
            "components": libraries,
            "dependencies": [
                {"ref": "headway", "dependsOn": [library["bom-ref"] for library in libraries]},
            ],
        }


setup(distclass=Package, cmdclass={"build_py": BuildPackage, "bdist_wheel": BuildWheel})
