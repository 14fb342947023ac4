"""A quick slice of the campaigns in ``tests/outside`` that no other test runs."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

OUTSIDE = Path(__file__).parent / "outside"


def run_campaign(script: str, *words: str) -> str:
    result = subprocess.run(
        [sys.executable, OUTSIDE / script, *words],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.slow
def test_no_package_of_the_run_time_is_under_the_gpl() -> None:
    assert "under the GPL or AGPL: 0" in run_campaign("supply_chain.py", "--pip-audit", "/nowhere")


@pytest.mark.slow
def test_commands_name_a_disk_that_cannot_be_written() -> None:
    said = run_campaign("disk_failures.py", "--count", "2")
    if "skipped" in said:
        pytest.skip(said)
    assert "0 promises broken" in said


@pytest.mark.slow
def test_promises_of_training(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = str(OUTSIDE / "training_campaigns.py")
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which the script adds
    monkeypatch.setattr(sys, "argv", [script, "nan", "writers", "--count", "1"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(script, run_name="__main__")
    said = capsys.readouterr().out
    assert not ended.value.code, said
    assert len(said.splitlines()) == 3
