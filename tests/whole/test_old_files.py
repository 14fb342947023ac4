"""Models of all versions translate to the same text; runs of this format resume with the same losses; older runs are refused.

``tests/golden/VERSION`` was written by that version, 0.2 by ``tests/golden/write_golden.py``, which says what it holds. Of the run
of 0.1 only the model, the record and the prepared text are kept.
"""

import json
import shutil
from pathlib import Path

import pytest

from headway.cli.main import dispatch
from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.training import run as training_run
from headway.translation import Translator
from support.cases import each_case
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


@each_case
def test_a_run_and_prepared_text_of_version_0_1_are_refused_and_stay_as_they_are(
    words, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(GOLDEN / "0.1" / "run", "run")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with pytest.raises(HeadwayError, match=message) as caught:
        dispatch(words)
    assert len(str(caught.value).splitlines()) == 1
    assert before == {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}


def test_the_model_of_a_run_of_version_0_1_translates_and_is_shown(capsys):
    run = GOLDEN / "0.1" / "run"
    assert Translator.load(run).translate(["0 7 5"])[0].startswith("nein")
    assert dispatch(["info", str(run)]) == 0
    assert "not read = run.json of another version" in capsys.readouterr().out


def test_a_run_of_this_format_resumes_with_the_same_losses(tmp_path, monkeypatch):
    # Other tests validate by shorter translations.
    monkeypatch.setattr(training_run, "SearchConfig", SearchConfig)
    run = tmp_path / "run"
    shutil.copytree(GOLDEN / "0.2" / "run", run)
    assert [line["step"] for line in metrics(run) if line["event"] == "step"][-1] == 7
    assert dispatch(["train", str(run), "--ranks", "1"]) == 0
    lines = (GOLDEN / "0.2" / "metrics.jsonl").read_text().splitlines()
    expected = [json.loads(line) for line in lines]
    found = metrics(run)
    assert [line["event"] for line in found] == [line["event"] for line in expected]
    # All digits are equal on the machine that wrote the files; other processors round differently
    # (norms of gradients were seen to differ by 3e-5 of themselves).
    for line, other in zip(found, expected, strict=True):
        assert line.keys() == other.keys()
        for name, value in other.items():
            if name in ("bleu", "chrf"):  # at that time, some translations had no text
                continue
            is_exact = isinstance(value, str | list | dict)
            assert line[name] == (value if is_exact else pytest.approx(value, rel=2e-4)), line
    assert Translator.load(run).models
