"""Run the fast tests with several versions of Python and torch, each pair in an environment of its own.

    python tests/outside/matrix.py [3.13:2.13.0 ...] [--only tests/ext/native ...]

A pair is a version of Python, whose program ``python3.13`` must be on the path, and a version of torch.
With ``lowest`` in place of torch's version, every package that pyproject.toml names is installed at the
lowest version that it allows. Pairs run one after the other. An environment takes 1 GB, and is deleted when its
tests have ended.

torch is installed first, from PyTorch's index of builds without CUDA. Its number may be above the cap of
pyproject.toml.

Prints a table with the last line of pytest for each pair; FOLDER/*.log has what pip and pytest said. The exit code is 1
if a test failed or a pair could not be installed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
# Each version of Python, each of torch, and the ends of both.
PAIRS = (
    "3.13:2.13.0", "3.12:2.11.0", "3.14:2.15.0", "3.11:lowest", "3.11:2.13.0", "3.12:2.12.1", "3.13:2.14.1",
)  # fmt: skip
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"  # as in the Makefile
PARALLEL = ("--numprocesses", "2", "--dist", "worksteal")  # as in the Makefile


def required(project):
    """Return what a project and all its extras need, without the project itself.

    Args:
        project: The table ``project`` of pyproject.toml.
    """
    extras: dict[str, list[str]] = project["optional-dependencies"]
    texts = [*project["dependencies"], *(text for extra in extras.values() for text in extra)]
    return [one for one in map(Requirement, texts) if one.name != project["name"]]


def lowest_versions(requirements):
    """Return the lowest version of each package that meets all requirements.

    Raises:
        ValueError: If a requirement has no lowest version.
    """
    found: dict[str, Version] = {}
    for requirement in requirements:
        floors = [
            Version(part.version)
            for part in requirement.specifier
            if part.operator in (">=", "==", "~=")
        ]
        if not floors:
            raise ValueError(f"pyproject.toml: {requirement} has no lowest version")
        name = canonicalize_name(requirement.name)
        found[name] = max([*floors, *filter(None, [found.get(name)])])
    return {name: str(version) for name, version in sorted(found.items())}


class Trial:
    """One pair of versions: its environment, its log and its result.

    Args:
        pair: Such as "3.13:2.13.0" or "3.11:lowest".
        folder: For the environment and the log.
        only: Files or directories of tests; none: all.
    """

    def __init__(self, pair, folder, only=()):
        self._only = only
        self.python, _, self.torch = pair.partition(":")
        self._environment = folder / pair.replace(":", "-")
        self._log = self._environment.with_suffix(f"{self._environment.suffix}.log")

    def run(self):
        """Install everything, run the tests, and delete the environment; return an exit code and what was said last."""
        program = shutil.which(f"python{self.python}")
        if program is None:
            return 1, f"python{self.python} is not on the path"
        shutil.rmtree(self._environment, ignore_errors=True)
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._log.unlink(missing_ok=True)
        try:
            self._call(program, "-m", "venv", str(self._environment))
            for words in self._installations():
                if self._call(self._program, "-m", "pip", "install", "--no-compile", *words):
                    return 1, f"pip install {words[0]} ... failed, see {self._log}"
            return self._test()
        finally:
            shutil.rmtree(self._environment, ignore_errors=True)

    @property
    def _program(self):
        return str(self._environment / "bin" / "python")

    def _installations(self):
        """Yield what pip installs, step by step; no step may replace torch."""
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        requirements = required(tomllib.loads(text)["project"])
        versions = {"torch": self.torch}
        if self.torch == "lowest":
            versions = lowest_versions(requirements)
        file = self._environment / "constraints.txt"
        lines = [f"{name}=={version}\n" for name, version in versions.items()]
        file.write_text("".join(lines), encoding="utf-8")
        yield f"torch=={versions['torch']}", "--index-url", TORCH_INDEX, "--constraint", str(file)
        others = [str(one) for one in requirements if one.name != "torch"]
        yield *others, "--constraint", str(file)
        # Without what it needs: torch may be above the cap.
        yield "--no-deps", "--editable", str(ROOT)

    def _test(self):
        code = self._call(self._program, "-m", "pytest", "-m", "not slow", *PARALLEL, *self._only)
        return code, self._log.read_text(encoding="utf-8").splitlines()[-1]

    def _call(self, *command):
        """Run a command, append what it prints to the log, and return its exit status."""
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        with self._log.open("a", encoding="utf-8") as log:
            return subprocess.run(
                command, cwd=ROOT, stdout=log, stderr=log, check=False,
                env=environment | {"OMP_NUM_THREADS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            ).returncode  # fmt: skip


def main():
    """Run each pair and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pairs", nargs="*", metavar="PYTHON:TORCH", default=PAIRS)
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="PATH", help="run these tests alone"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "outside" / "matrix")
    args = parser.parse_args()
    print("| pair | tests |\n|---|---|", flush=True)
    failed = 0
    for pair in args.pairs:
        code, said = Trial(pair, args.folder, args.only).run()
        failed |= code
        print(f"| {pair} | {said} |", flush=True)
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
