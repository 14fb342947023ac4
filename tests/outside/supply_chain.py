"""Look up known holes of the packages that Headway needs at run time, and check their licenses.

    python tests/outside/supply_chain.py [--pip-audit PROGRAM]

Covers the packages of Headway and of all its extras but ``dev``, and what those need in turn, in the versions
that are installed. No license may be the GPL or AGPL. ``pip-audit`` asks a database on the network; without
the program or the network this part is skipped, and the output says so.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.campaign import Campaign

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
COPYLEFT = re.compile(r"\bA?GPL|Affero|(?<!Lesser )General Public License")
AUDIT_SECONDS = 300
# An answer without this hole (code execution while loading) comes from a database without holes.
HOLE = ("torch", "2.5.1")


def runtime_packages():
    """Return the installed packages that Headway needs at run time, by their canonical names."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    own = [text for name, texts in extras.items() if name != "dev" for text in texts]
    pending = list(required_by([*project["dependencies"], *own], ""))
    found: dict[str, metadata.Distribution] = {}
    seen: set[tuple[str, str]] = set()
    while pending:
        name, extra = pending.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            print(f"{name}: not installed, not examined")
            continue
        pending += required_by(found[name].requires or (), extra)
    return dict(sorted(found.items()))


def required_by(requirements, extra):
    """Yield each required package with each required extra; "" stands for the package itself."""
    for text in requirements:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            for more in ("", *requirement.extras):
                yield canonicalize_name(requirement.name), more


def license_of(package):
    """Return a package's license in one line: its expression, or else its classifiers or its text."""
    values = package.metadata
    if "License-Expression" in values:
        return values["License-Expression"]
    classifiers = [
        str(line).rpartition(" :: ")[2]
        for line in values.get_all("Classifier") or ()
        if str(line).startswith("License :: ")
    ]
    text = " ".join(values["License"].split())[:80] if "License" in values else ""
    return "; ".join(classifiers) or text or "unknown"


def is_copyleft(name):
    """Whether a license is the GPL or AGPL; of a choice ("OR") all must be, exceptions are no GPL."""
    choices = re.split(r"\bOR\b", name)
    return all(COPYLEFT.search(choice) and "exception" not in choice for choice in choices)


def known_holes(program, packages):
    """Ask ``pip-audit`` for known holes; None if the program, the network or the database is missing.

    Args:
        program: The program ``pip-audit``.
        packages: Name -> version.
    """
    try:
        reference = audit(program, dict([HOLE]))
        found = audit(program, packages)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        print(f"known holes: skipped, pip-audit gives no answer ({error})")
        return None
    if not reference:
        print(f"known holes: skipped, the database does not know those of {' '.join(HOLE)}")
        return None
    return found


def audit(program, packages):
    """Return the known holes of packages, a line each."""
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "requirements.txt"
        pins.write_text("".join(f"{name}=={version}\n" for name, version in packages.items()))
        words = [program, "--requirement", str(pins), "--no-deps", "--disable-pip"]
        words += ["--format", "json", "--progress-spinner", "off"]
        result = subprocess.run(
            words, capture_output=True, text=True, timeout=AUDIT_SECONDS, check=False
        )
    if not result.stdout:
        raise ValueError((result.stderr.strip().splitlines() or ["no output"])[-1][:200])
    return [
        f"{entry['name']} {entry['version']}: {hole['id']}, fixed in {hole['fix_versions'] or '?'}"
        for entry in json.loads(result.stdout)["dependencies"]
        for hole in entry.get("vulns", ())
    ]


class Packages(Campaign):
    """The packages of the run time."""

    def work(self):
        """Print all packages with their licenses, and what is wrong with them."""
        packages = runtime_packages()
        for name, package in packages.items():
            license_name = license_of(package)
            print(f"{name:<28} {package.version:<16} {license_name}")
            self.counts["packages"] += 1
            self.expect(not is_copyleft(license_name), f"{name} is under the GPL or AGPL")
        # The database does not have local versions, such as 2.13.0+cpu.
        versions = {name: package.version.partition("+")[0] for name, package in packages.items()}
        for hole in known_holes(self.options.pip_audit, versions) or ():
            self.expect(False, hole)


if __name__ == "__main__":
    Packages.run(__doc__, {"--pip-audit": "pip-audit"})
