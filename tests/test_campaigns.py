"""A quick slice of the campaigns in ``tests/outside`` that no other test runs."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OUTSIDE = Path(__file__).parent / "outside"
IGNORED = shutil.ignore_patterns("*.egg-info", "__pycache__")


@pytest.fixture
def run_campaign(monkeypatch, capsys):
    """Run a campaign in this process, which must end well, and return what it prints."""

    def run(script, *words):
        path = str(OUTSIDE / script)
        monkeypatch.setattr(sys, "path", [*sys.path])  # to which the script adds
        monkeypatch.setattr(sys, "argv", [path, *words])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(path, run_name="__main__")
        said = capsys.readouterr()
        assert not ended.value.code, said
        return said.out

    return run


def test_no_package_of_the_run_time_is_under_the_gpl(run_campaign):
    assert "0 promises broken" in run_campaign("supply_chain.py", "--pip-audit", "/nowhere")


def test_a_known_hole_of_a_package_breaks_a_promise(tmp_path):
    """An audit program that knows a hole in whatever it is asked for stands for ``pip-audit``."""
    program = tmp_path / "pip-audit"
    hole = {"name": "torch", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}
    program.write_text(f"#!/bin/sh\necho '{json.dumps({'dependencies': [hole]})}'\n")
    program.chmod(0o755)
    words = [sys.executable, OUTSIDE / "supply_chain.py", "--pip-audit", program]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.returncode, "torch 2: CVE-1" in result.stdout) == (1, True), result.stderr


def test_a_wheel_that_is_built_twice_has_the_same_bytes(tmp_path):
    """In two directories, of files with other times; `make wheel` decides the permissions."""
    root = OUTSIDE.parents[1]
    wheels = []
    for number in range(2):
        copy = tmp_path / f"copy-{number}" / "of"[number:]
        shutil.copytree(root / "src", copy / "src", ignore=IGNORED, copy_function=shutil.copy)
        for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
            shutil.copy(root / name, copy)
        for path in copy.rglob("*"):
            os.utime(path, (1e9 + 1e6 * number,) * 2)
        build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
        subprocess.run(
            [sys.executable, "-c", build, tmp_path / f"out-{number}"], cwd=copy,
            env=os.environ | {"SOURCE_DATE_EPOCH": "315532800", "HEADWAY_WHEEL": ""},
            capture_output=True, check=True,
        )  # fmt: skip
        wheels += [path.read_bytes() for path in (tmp_path / f"out-{number}").glob("*.whl")]
    assert len(wheels) == 2
    assert wheels[0] == wheels[1]


def test_commands_name_a_disk_that_cannot_be_written(run_campaign):
    said = run_campaign("disk_failures.py", "--count", "1")
    if "skipped" in said:
        pytest.skip(said)
    assert "0 promises broken" in said
