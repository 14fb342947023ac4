"""Preparing and translating by a cluster of Dask gives the bytes of one process."""

import json
import os
import shutil
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

from headway.cli import file_translation
from headway.cli.main import dispatch
from headway.config import TextConfig
from headway.errors import HeadwayError, LostWorkersError
from headway.text.chunks import Stage, Workers, find_result, run_stage
from headway.text.preparation import plan
from headway.text.preparation.plan import Plan
from headway.text.preparation.preparing import Preparation
from support.processes import start_cluster
from support.toy_models import sentences, write_pairs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("distributed") is None, reason="needs dask and distributed"),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The file of a scheduler with two workers."""
    with start_cluster(tmp_path_factory.mktemp("cluster"), 2) as address:
        yield address


def read_bytes(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_cluster_prepares_and_translates_as_one_process(
    cluster, model_directory, tmp_path, monkeypatch
):
    monkeypatch.setattr(plan, "RANGE", 17)
    monkeypatch.setattr(file_translation, "WINDOW", 20)
    files = [str(path) for path in write_pairs(tmp_path, "a", sentences(90, seed=1))]
    found = []
    for way in (["--workers", "1"], ["--cluster", cluster]):
        data, out = tmp_path / f"data-{len(found)}", tmp_path / f"out-{len(found)}"
        settings = ["--text.vocab-size", "331", "--text.max-ratio", "0"]
        words = ["prepare", str(data), "--train", *files, "--valid", "13", *settings, *way]
        assert dispatch(words) == 0
        words = ["translate", str(model_directory), "--input", files[0], "--output", str(out)]
        assert dispatch([*words, "--search.max-extra", "7", "--threads", "1", *way]) == 0
        found.append((read_bytes(data), out.read_bytes()))
    assert found[0] == found[1]


def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(cluster, tmp_path):
    def die_once(number, directory):
        if number == 3 and not (tmp_path / "marker").exists():
            (tmp_path / "marker").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        (directory / "square").write_text(str(number**2))

    stage = Stage("squares", range(9), die_once)
    assert len([*run_stage(stage, tmp_path, Workers(cluster=cluster))]) == 9
    assert (tmp_path / "marker").exists()
    for number in range(9):
        found = find_result(tmp_path / "squares", number) / "square"
        assert found.read_text() == str(number**2)


def test_an_error_on_a_worker_arrives_as_it_is(cluster, tmp_path):
    def fail(number, directory):
        raise HeadwayError(f"a.en:{number}: wrong")

    with pytest.raises(HeadwayError, match=r"^a\.en:5: wrong$"):
        list(run_stage(Stage("squares", [5], fail), tmp_path, Workers(cluster=cluster)))


def test_a_cluster_that_is_not_there_is_named_and_no_work_is_lost(tmp_path):
    import dask

    files = write_pairs(tmp_path, "a", sentences(50, seed=1))
    preparation = Preparation(Plan.make(files, 7, TextConfig(vocab_size=331)), tmp_path / "data")
    steps = preparation.run()
    while next(steps).stage != "select":
        pass
    steps.close()
    before = sorted(file for file in preparation.work.rglob("*") if file.is_file())
    assert len(before) > 1
    for address in ("tcp://127.0.0.1:1", "none.json"):
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "0.3s"}),
            pytest.raises(LostWorkersError, match=f"^--cluster {address}: "),
        ):
            list(preparation.run(cluster=address))
        assert sorted(file for file in preparation.work.rglob("*") if file.is_file()) == before


def test_workers_load_a_model_again_that_has_changed(cluster, model_directory, tmp_path):
    model = Path(shutil.copytree(model_directory, tmp_path / "model"))
    (tmp_path / "text").write_text("the cat\n")
    words = ["translate", str(model), "--input", str(tmp_path / "text"), "--output"]
    words += [str(tmp_path / "out"), "--cluster", cluster, "--search.max-extra", "7"]
    assert dispatch(words) == 0
    config = json.loads((model / "config.json").read_bytes())
    (model / "config.json").write_text(json.dumps(config))
    assert dispatch(words) == 0  # each worker loads it again
