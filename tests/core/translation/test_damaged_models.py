"""Damaged model directories give one line, execute nothing and do not hang; test_mutated_models.py damages at random."""

import json
import pickle
import shutil
import struct

import pytest

from headway.errors import HeadwayError
from headway.translation import load_model
from support.bounds import bounded
from support.trap import Trap

SETTINGS = [
    {"num_encoder_layers": 10**9},
    {"d_model": 10**9, "num_heads": 1},
    {"source_vocab_size": 10**9, "target_vocab_size": 10**9},
    {"max_positions": 10**12},
    {"num_heads": 10**9, "d_k": 10**9, "d_v": 1},
    {"d_modle": 3},
    {"d_model": "wide"},
]
CONFIGS = {
    "deep": "[" * 100_000,
    "long": '{"a": "' + "x" * (2 << 20) + '"}',
    "of another program": '{"model_type": "marian"}',
    "no object": "null",
    "of another format": '{"format": 99, "settings": {}}',
}


@pytest.fixture
def directory(model_directory, tmp_path):
    """A copy of a model directory."""
    shutil.copytree(model_directory, tmp_path / "model")
    return tmp_path / "model"


def assert_refused(directory):
    """Check that loading a model fails, that each line of the message names the model, and that no code in it ran."""
    with pytest.raises(HeadwayError) as error, bounded():
        load_model(directory)
    assert all(str(directory) in line for line in str(error.value).split("\n"))
    assert not (directory / "canary").exists()


@pytest.mark.parametrize("changes", SETTINGS, ids=lambda changes: next(iter(changes)))
def test_settings_that_no_model_has_are_refused(changes, directory):
    file = directory / "config.json"
    values = json.loads(file.read_text())
    values["settings"]["model"].update(changes)
    file.write_text(json.dumps(values))
    assert_refused(directory)


def test_weights_that_do_not_fit_are_refused(directory):
    file = directory / "model.safetensors"
    data = file.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    for value in (float("nan"), float("inf")):
        file.write_bytes(data[:-4] + struct.pack("<f", value))
        assert_refused(directory)
    header = json.loads(data[8 : 8 + size])
    first, second = [name for name in header if name != "__metadata__"][:2]
    for changed in (
        {first: header[first] | {"data_offsets": header[second]["data_offsets"]}},
        {first: header[first] | {"data_offsets": [-8, 8]}},
        {first: header[first] | {"shape": [1, *header[first]["shape"]]}},
        {f"{first}.other": header[first]},
    ):
        others = {name: entry for name, entry in header.items() if name != first}
        text = json.dumps(others | changed).encode()
        file.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])
        assert_refused(directory)
    file.write_bytes(struct.pack("<Q", 1 << 40) + b"{" * 1000)
    assert_refused(directory)


def test_pickles_are_not_opened(directory):
    for name in ("pytorch_model.bin", "model.pt", "checkpoint.pt", "optimizer.pt"):
        (directory / name).write_bytes(pickle.dumps(Trap(directory / "canary")))
    load_model(directory)
    assert not (directory / "canary").exists()


@pytest.mark.parametrize("where", ["nowhere", "config.json"])
def test_a_path_that_is_no_model_directory_gives_an_error_of_one_line(where, model_directory):
    with pytest.raises(HeadwayError, match="a run or model directory"):
        load_model(model_directory / where)
