"""Files of version 0.1 load, translate to the same text, and resume with the same losses.

``tests/golden/0.1`` was written by version 0.1.0. ``run`` was killed after step 7 of 12; its newest
checkpoint is of step 4. It has no dropout, for which version 0.1 drew other random numbers. ``metrics.jsonl`` is of the same run without the kill. ``translations.tsv`` holds
lines and their translations by ``model``, with a beam of 1 and of 4.
"""

import json
import shutil
from pathlib import Path

import pytest

from headway.cli.main import dispatch
from headway.config import SearchConfig
from headway.inference import Translator
from support.runs import metrics

GOLDEN = Path(__file__).parents[1] / "golden" / "0.1"


@pytest.mark.parametrize(("column", "beam"), [(1, 1), (2, 4)])
def test_a_model_of_version_0_1_translates_to_the_same_text(column, beam):
    rows = [
        line.split("\t")
        for line in (GOLDEN / "translations.tsv").read_text(encoding="utf-8").splitlines()
    ]
    translator = Translator.load(GOLDEN / "model")
    # Version 0.1 translated what later versions keep, such as tags.
    search = SearchConfig(beam=beam, keep=False)
    found = translator.translate([row[0] for row in rows], search)
    assert found == [row[column] for row in rows]


def test_a_run_of_version_0_1_resumes_with_the_same_losses(tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(GOLDEN / "run", run)
    assert [line["step"] for line in metrics(run) if line["event"] == "step"][-1] == 7
    assert dispatch(["train", str(run), "--ranks", "1"]) == 0
    assert "goes on with other dropout masks" in capsys.readouterr().err
    expected = [json.loads(line) for line in (GOLDEN / "metrics.jsonl").read_text().splitlines()]
    found = metrics(run)
    assert [line["event"] for line in found] == [line["event"] for line in expected]
    # All digits are equal on the machine that wrote the files; other processors round differently
    # (norms of gradients were seen to differ by 3e-5 of themselves).
    for line, other in zip(found, expected, strict=True):
        assert line.keys() == other.keys()
        for name, value in other.items():
            same = value if isinstance(value, str | list) else pytest.approx(value, rel=2e-4)
            assert line[name] == same, (line, other)
    assert Translator.load(run).translate(["1 2 3"])
