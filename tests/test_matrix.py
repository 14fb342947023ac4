"""The lowest versions with which ``tests/outside/matrix.py`` runs the tests."""

import sys
import tomllib
from pathlib import Path

from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "outside"))

from matrix import lowest_versions, required  # noqa: E402


def requirements():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return required(project)


def test_the_lowest_versions_meet_every_requirement():
    lowest = lowest_versions(requirements())
    for one in requirements():
        version = lowest[canonicalize_name(one.name)]
        assert one.specifier.contains(version, prereleases=True), one
    for name, version in lowest.items():
        asked = [part for one in requirements() if canonicalize_name(one.name) == name for part in one.specifier]  # fmt: skip
        assert version in {part.version for part in asked}, name
