"""The parsing experiment: at toy size, and with a given treebank."""

import pytest

from headway.ext.paper.experiments import table4
from headway.ext.paper.experiments.table4_treebank import make_treebank
from headway.ext.paper.reproduction import reproduce
from headway.ext.paper.running.study import Study


@pytest.mark.slow
def test_table_4_runs_at_toy_size_and_reuses_its_results(tmp_path, monkeypatch):
    work = Study(tmp_path, scale="toy", seeds=(1,))
    result = reproduce("table4", work)
    assert result.claims[0].verdict == "shown"
    monkeypatch.setattr("headway.ext.paper.running.study.run_trial", pytest.fail)
    (tmp_path / "table4.json").unlink()
    assert reproduce("table4", work).tables == result.tables


def test_a_given_treebank_replaces_the_generated_one(tmp_path):
    folder = tmp_path / "treebank"
    folder.mkdir()
    for name, seed in (("train", 4), ("valid", 5), ("test", 6)):
        text = "".join(f"{t}\n" for t in make_treebank(30, seed))
        (folder / f"{name}.tree").write_text(text)
    found = table4.find_treebank(Study(tmp_path, scale="toy"))
    assert not found.is_generated
    assert [len(part) for part in (found.train, found.valid, found.test)] == [30, 30, 30]
    assert found.test == make_treebank(30, 6)
