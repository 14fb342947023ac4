import json
import resource

import pytest
import torch

from headway.errors import HeadwayError
from headway.training.storage.checkpoint import (
    average_weights,
    read_checkpoint,
    write_checkpoint,
)
from headway.training.storage.log import Log
from headway.training.storage.run_directory import RunDirectory
from support.cases import each_case

TENSORS = {
    "model": {"a": torch.arange(6.0).view(2, 3), "b": torch.ones(5, dtype=torch.uint8)},
    "optimizer": {"cpu.0": torch.get_rng_state()},
}


@pytest.fixture
def directory(tmp_path):
    """A run directory with a place for checkpoints."""
    directory = RunDirectory(tmp_path)
    directory.checkpoints.mkdir()
    return directory


@each_case
def test_two_checkpoints_are_kept_for_a_resume_however_short_the_series(series, kept, directory):
    for step in (3, 6, 9, 12):
        write_checkpoint(directory.checkpoint(step), TENSORS, {})
    directory.prune(series)
    assert directory.steps() == kept
    for step in kept[-2:]:
        assert set(read_checkpoint(directory.checkpoint(step))[0]) == {"model", "optimizer"}
    with pytest.raises(TypeError):  # a write that fails behind the tensors leaves nothing
        write_checkpoint(directory.checkpoint(15), TENSORS, {"state": object()})
    assert len([*directory.checkpoints.iterdir()]) == len(kept)


def test_a_log_is_cut_to_its_length_at_the_checkpoint(tmp_path):
    log = Log(tmp_path / "metrics.jsonl")
    assert log.size() == 0
    log.write(step=1, loss=0.1)
    size = log.size()
    log.write(step=2, loss=float("nan"))
    lines = [json.loads(line) for line in log.path.read_text().splitlines()]
    assert lines == [{"step": 1, "loss": 0.1}, {"step": 2, "loss": None}]
    log.cut(size)
    log.write(step=2, loss=0.3)
    lines = [json.loads(line) for line in log.path.read_text().splitlines()]
    assert lines == [{"step": 1, "loss": 0.1}, {"step": 2, "loss": 0.3}]
    log.close()


def test_a_line_that_a_disk_has_no_room_for_is_an_error_and_leaves_no_part_of_it(tmp_path):
    log = Log(tmp_path / "metrics.jsonl")
    log.write(step=1, loss=0.1)
    before = log.path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))  # room for half a line
    try:
        with pytest.raises(OSError, match=r"File too large: '\S+metrics\.jsonl'"):
            log.write(step=2, loss=0.3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert log.path.read_bytes() == before
    log.write(step=2, loss=0.3)
    assert [json.loads(line)["step"] for line in log.path.read_text().splitlines()] == [1, 2]
    log.close()


def test_averaging_computes_the_mean_in_float64(tmp_path):
    files = []
    for step, value in ((5, 1.0), (7, 1e-9), (11, -1.0)):
        path = tmp_path / f"step-{step}"
        write_checkpoint(path, {"model": {"a": torch.full((3,), value)}}, {})
        files.append(path / "model.safetensors")
    mean = average_weights(files)["a"]
    assert mean.dtype == torch.float32
    # 1 + 1e-9 is 1 in float32: summed there, the mean would be 0.
    torch.testing.assert_close(mean, torch.full((3,), 1e-9 / 3), rtol=1e-5, atol=0)


def test_averaging_rejects_weights_of_other_models(tmp_path):
    files = []
    for step, width in ((5, 3), (7, 2)):
        path = tmp_path / f"step-{step}"
        write_checkpoint(path, {"model": {"a": torch.ones(width)}}, {})
        files.append(path / "model.safetensors")
    with pytest.raises(HeadwayError, match=r"step-7.model.safetensors: its weights"):
        average_weights(files)
