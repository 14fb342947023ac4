"""The trainings of experiments, trained by workers beforehand, are those that `headway reproduce` needs."""

import runpy
import sys
from pathlib import Path

import pytest

from headway.ext.paper.reproduction import reproduce
from headway.ext.paper.running import work

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "card_trials.py"


@pytest.mark.slow
def test_what_workers_have_trained_is_trained_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "paper")
    words = ["--scale", "toy", "--device", "cpu", "--only", "smoothing", "rivals", "--workers", "1"]
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), out, *words])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 7  # three amounts of smoothing with two seeds, and where the report is
    assert lines[-1].startswith(f"{out}/report.html")
    assert (tmp_path / "paper" / "smoothing.json").is_file()
    monkeypatch.setattr(work, "run_trial", pytest.fail)
    reproduce("smoothing", work.Study(out, "toy"))
