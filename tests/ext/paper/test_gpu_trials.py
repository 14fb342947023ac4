"""What an experiment on one card hands to the workers is what `headway reproduce` needs."""

import runpy
import threading
import time
from pathlib import Path

import pytest

from headway.ext.paper.reproduction import reproduce
from headway.ext.paper.running import study

SCRIPT = Path(__file__).parents[2] / "outside" / "gpu_trials.py"


@pytest.mark.slow
@pytest.mark.usefixtures("copied_trainings")
def test_what_workers_have_trained_is_trained_no_more(tmp_path, monkeypatch, capsys):
    handing = runpy.run_path(str(SCRIPT))["Handing"](tmp_path, "toy")
    train = study.run_trial
    monkeypatch.setattr(study, "run_trial", pytest.fail)
    experiment = threading.Thread(target=reproduce, args=("smoothing", handing))
    experiment.start()
    lines = ""
    while experiment.is_alive() and lines.count("\n") < 9:  # three amounts with three seeds
        lines += capsys.readouterr().out
        time.sleep(0.01)
    for line in lines.splitlines():
        train(Path(line.partition("\t")[2]))
    experiment.join()
    assert (tmp_path / "smoothing.json").is_file()
    reproduce("smoothing", study.Study(tmp_path, "toy"))
