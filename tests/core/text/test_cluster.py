"""Preparing and translating by a cluster of Dask gives the bytes of one process."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.cli import file_translation
from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.text.chunks import Stage, Workers, find_result, run_stage
from headway.text.preparation import plan
from support.processes import start_cluster
from support.toy_models import sentences, translate_words

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The file of a scheduler with two workers."""
    with start_cluster(tmp_path_factory.mktemp("cluster"), 2) as address:
        yield address


def read_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_cluster_prepares_and_translates_as_one_process(
    cluster: str, model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "RANGE", 37)
    monkeypatch.setattr(file_translation, "WINDOW", 5)
    lines = sentences(400, seed=1)
    for name, side in (("a.en", lines), ("a.de", map(translate_words, lines))):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in side))
    files = [str(tmp_path / name) for name in ("a.en", "a.de")]
    found = []
    for way in (["--workers", "1"], ["--cluster", cluster]):
        data, out = tmp_path / f"data-{len(found)}", tmp_path / f"out-{len(found)}"
        settings = ["--text.vocab-size", "331", "--text.max-ratio", "0"]
        words = ["prepare", str(data), "--train", *files, "--valid", "31", *settings, *way]
        assert dispatch(words) == 0
        words = ["translate", str(model_directory), "--input", files[0], "--output", str(out)]
        assert dispatch([*words, "--search.max-extra", "7", "--threads", "1", *way]) == 0
        found.append((read_bytes(data), out.read_bytes()))
    assert found[0] == found[1]


def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(cluster: str, tmp_path: Path) -> None:
    def die_once(number: int, directory: Path) -> None:
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


def test_an_error_on_a_worker_arrives_as_it_is(cluster: str, tmp_path: Path) -> None:
    def fail(number: int, directory: Path) -> None:
        raise HeadwayError(f"a.en:{number}: wrong")

    with pytest.raises(HeadwayError, match=r"^a\.en:5: wrong$"):
        list(run_stage(Stage("squares", [5], fail), tmp_path, Workers(cluster=cluster)))


def test_a_cluster_that_is_not_there_is_named(tmp_path: Path) -> None:
    address = "tcp://127.0.0.1:1"
    with pytest.raises(HeadwayError, match=f"^--cluster {address}: "):
        list(run_stage(Stage("squares", [5], print), tmp_path, Workers(cluster=address)))
