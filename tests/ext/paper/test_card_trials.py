"""The trainings of experiments, trained by workers beforehand, are those that `headway reproduce` needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from headway.ext.paper.reproduction import reproduce
from headway.ext.paper.running import work

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "card_trials.py"


@pytest.mark.slow
def test_what_workers_have_trained_is_trained_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = str(tmp_path / "paper")
    options = [
        "--scale",
        "toy",
        "--device",
        "cpu",
        "--only",
        "smoothing",
        "rivals",
        "--workers",
        "2",
    ]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), out, *options], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 7  # three amounts of smoothing with two seeds, and where the report is
    assert lines[-1].startswith(f"{out}/report.html")
    assert (tmp_path / "paper" / "smoothing.json").is_file()
    monkeypatch.setattr(work, "run_trial", pytest.fail)
    reproduce("smoothing", work.Work(out, "toy"))
