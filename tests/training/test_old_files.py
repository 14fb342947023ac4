"""Files of earlier releases load, translate to the same text, and resume with the same losses.

``tests/golden/VERSION`` was written by that version. ``run`` was killed after step 7 of 12; its newest
checkpoint is of step 4. ``metrics.jsonl`` is of the same run without the kill. ``translations.tsv`` holds
lines and their translations by ``model``, with a beam of 1 and of 4. ``tests/golden/record.py`` wrote 0.2.
The run of 0.1 has no dropout, for which version 0.1 drew other random numbers.
"""

import json
import shutil
from pathlib import Path

import pytest

from headway.cli.main import dispatch
from headway.config import SearchConfig
from headway.inference import Translator
from support.runs import metrics

GOLDEN = Path(__file__).parents[1] / "golden"


def rows(version):
    text = (GOLDEN / version / "translations.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


@pytest.mark.parametrize(("column", "beam"), [(1, 1), (2, 4)])
def test_a_model_of_version_0_1_translates_to_the_same_text(column, beam):
    translator = Translator.load(GOLDEN / "0.1" / "model")
    # Version 0.1 translated what later versions keep, such as tags.
    search = SearchConfig(beam=beam, keep=False)
    found = translator.translate([row[0] for row in rows("0.1")], search)
    assert found == [row[column] for row in rows("0.1")]


def test_a_model_of_version_0_2_translates_to_the_same_text_and_has_its_quality():
    translator = Translator.load(GOLDEN / "0.2" / "model")
    assert {pair for pair, *_ in rows("0.2")} == {"-".join(pair) for pair in translator.pairs}
    for pair in translator.pairs:
        own = translator.to(pair[1], pair[0])
        expected = [row[1:] for row in rows("0.2") if row[0] == "-".join(pair)]
        for column, beam in ((1, 1), (2, 4)):
            found = own.translate([row[0] for row in expected], SearchConfig(beam=beam))
            assert found == [row[column] for row in expected]
        [[rated]] = own.stream(["3 1 4"], quality=True)
        assert 0 < rated.quality < 1


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.1", "0.2"])
def test_a_run_resumes_with_the_same_losses(version, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(GOLDEN / version / "run", run)
    assert [line["step"] for line in metrics(run) if line["event"] == "step"][-1] == 7
    assert dispatch(["train", str(run), "--ranks", "1"]) == 0
    assert ("goes on with other dropout masks" in capsys.readouterr().err) == (version == "0.1")
    lines = (GOLDEN / version / "metrics.jsonl").read_text().splitlines()
    expected = [json.loads(line) for line in lines]
    found = metrics(run)
    assert [line["event"] for line in found] == [line["event"] for line in expected]
    # All digits are equal on the machine that wrote the files; other processors round differently
    # (norms of gradients were seen to differ by 3e-5 of themselves).
    for line, other in zip(found, expected, strict=True):
        assert line.keys() == other.keys()
        for name, value in other.items():
            is_exact = isinstance(value, str | list | dict)
            assert line[name] == (value if is_exact else pytest.approx(value, rel=2e-4)), line
    assert Translator.load(run).models
