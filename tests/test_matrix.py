"""What ``tests/outside/matrix.py`` computes: lowest versions, counts and its table; no environment is made."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "outside"))

from matrix import count_tests, lowest_versions, required, table  # noqa: E402


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return required(project)


def test_the_lowest_versions_meet_every_requirement() -> None:
    lowest = lowest_versions(requirements())
    for one in requirements():
        version = lowest[canonicalize_name(one.name)]
        assert one.specifier.contains(version, prereleases=True), one
    for name, version in lowest.items():
        asked = [part for one in requirements() if canonicalize_name(one.name) == name for part in one.specifier]  # fmt: skip
        assert version in {part.version for part in asked}, name


def test_a_package_without_a_lowest_version_is_named() -> None:
    with pytest.raises(ValueError, match=r"pyproject.toml: numpy<3 has no lowest version"):
        lowest_versions([Requirement("numpy<3")])


def test_tests_are_counted_once(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite>"
        "<testcase classname='a' name='1'/><testcase classname='a' name='2'><failure/></testcase>"
        "<testcase classname='a' name='3'><skipped message='no GPU'/></testcase>"
        "<testcase classname='b' name='4'/>"
        "<testcase classname='b' name='4'><error/></testcase>"
        "</testsuite></testsuites>"
    )
    found = count_tests(report)
    assert (found["passed"], found["failed"], found["skipped"]) == (1, 2, 1)
    assert found["failures"] == ["a::2", "b::4"]
    assert found["reasons"] == {"no GPU": 1}


@pytest.mark.slow
def test_a_missing_interpreter_is_named_and_tried_again(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "tests" / "outside" / "matrix.py", "2.99:2.13.0", "--folder", tmp_path]  # fmt: skip
    for _ in range(2):
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        assert found.returncode == 1
        assert "| 2.99:2.13.0 | not run: python2.99 is not on the path |" in found.stdout
        assert found.stderr == "2.99:2.13.0 ...\n"


def test_the_table_has_a_row_for_each_pair() -> None:
    result = {"python": "3.13.0", "torch": "2.13.0", "numpy": "2.4", "passed": 7, "failed": 0, "skipped": 2, "seconds": 9}  # fmt: skip
    assert table({"3.13:2.13.0": result}).splitlines()[2] == (
        "| 3.13:2.13.0 | 3.13.0 | 2.13.0 | 2.4 | 7 | 0 | 2 | 9 |"
    )
