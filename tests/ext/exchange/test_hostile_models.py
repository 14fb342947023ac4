"""A slice of ``tests/outside/damaged_models.py``, and single hostile files."""

import pickle
import shutil
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path

import pytest
import torch

from headway.errors import HeadwayError
from headway.ext.exchange.argos.package import unpack
from headway.ext.exchange.ctranslate2.binary import read_variables
from headway.ext.exchange.ctranslate2.reader import read
from headway.ext.exchange.importing import import_model
from headway.ext.exchange.json_file import read_json
from headway.ext.exchange.weights_file import read_tensors, read_weights
from headway.translation import load_model
from headway.translation.weights import check_header
from support.bounds import bounded
from support.ctranslate2_models import write_variables
from support.damaged_models import damaged, write_models
from support.exchange_models import change_json

pytest.importorskip("ctranslate2")


def test_hostile_values_and_files_are_refused_within_bounds(model_directory, tmp_path):
    (tmp_path / "formats").mkdir()
    formats = write_models(model_directory, tmp_path / "formats")
    cases = [damaged(formats, tmp_path, seed) for seed in range(28)]
    assert [case for case in cases if not case[1].is_right] == []


def test_a_large_table_of_tensors_is_refused_before_it_is_parsed(tmp_path):
    file = tmp_path / "model.safetensors"
    header = b"{" + b" " * (9 << 20) + b"}"
    file.write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(HeadwayError, match="table of tensors"), bounded(1, 20):
        check_header(file)


def test_aliases_cannot_multiply_a_tensor(tmp_path):
    large = {"large": torch.zeros(1 << 20, dtype=torch.int8)}
    write_variables(tmp_path / "model.bin", large, {"second": "large", "third": "large"})
    assert len(read_variables(tmp_path / "model.bin")) == 3
    write_variables(tmp_path / "model.bin", large, {f"{i}": "large" for i in range(1_000)})
    with pytest.raises(HeadwayError, match="aliases"), bounded():
        read_variables(tmp_path / "model.bin")


def test_a_table_that_does_not_fit_its_vocabulary_is_refused_before_it_is_converted(tmp_path):
    """A table of bytes takes four times its memory in fp32."""
    (tmp_path / "config.json").write_text('{"add_source_eos": true}')
    (tmp_path / "shared_vocabulary.json").write_text('["<unk>", "</s>"]')
    name = "encoder/embeddings_0/weight"
    aliases = {"decoder/embeddings/weight": name, "decoder/projection/weight": name}
    table = torch.zeros(30_000, 1_000, dtype=torch.int8)
    write_variables(tmp_path / "model.bin", {name: table}, aliases)
    with pytest.raises(HeadwayError, match="was expected"), bounded(5, 80):
        read(tmp_path)


class Call:
    """Pickled as a call of a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def write_archive(file, content, pickle_name="data.pkl"):
    """Write an archive as torch does, with another pickle."""
    torch.save({"x": torch.zeros(3)}, file)
    with zipfile.ZipFile(file) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(file, "w") as new:
        for name, data in entries.items():
            is_pickle = name.endswith("data.pkl")
            name = name.replace("data.pkl", pickle_name)
            new.writestr(name, content if is_pickle else data)


def nested_pickle():
    """Return the pickle of a dictionary whose key is 60 nested tuples: to hash it takes 2^60 operations."""
    pairs = b"".join(b"q" + bytes([i]) + b"h" + bytes([i]) + b"\x86" for i in range(60))
    return b"\x80\x02})" + pairs + b"K\x01s."


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(Call(bytearray, 3 << 30), 2),
        pickle.dumps(OrderedDict(x=Call(torch.Size, [1] * 9)), 2),
        pickle.dumps(Call(torch.FloatStorage, 1 << 40), 2),
        nested_pickle(),
        b"\x80\x02" + b"]" * (1 << 20) + b".",
        b"\x80\x02" + b"0" * 9 + b".",
    ],
    ids=["bytes", "size", "storage", "tuples", "long", "damaged"],
)
def test_a_pickle_that_does_more_than_list_tensors_is_refused(content, tmp_path):
    file = tmp_path / "pytorch_model.bin"
    write_archive(file, content)
    with pytest.raises(HeadwayError, match=r"pytorch_model\.bin") as refused, bounded():
        read_tensors(file)
    assert "\n" not in str(refused.value)


def test_a_pickle_is_checked_whatever_the_case_of_its_name(tmp_path):
    """PyTorch finds the pickle of an archive without regard to case."""
    file = tmp_path / "pytorch_model.bin"
    for name in ("data.pkl", "DATA.pkl"):
        write_archive(file, pickle.dumps(Call(bytearray, 1 << 28), 2), name)
        with pytest.raises(HeadwayError, match="its pickle names"), bounded():
            read_tensors(file)


def test_tensors_that_torch_saved_are_read(tmp_path):
    tied = torch.arange(6.0).view(2, 3)
    state = OrderedDict(a=tied, b=tied, c=torch.nn.Parameter(torch.ones(2)), d=tied.half())
    state._metadata = {"": {"version": 1}}
    file = tmp_path / "pytorch_model.bin"
    for is_archive in (True, False):
        torch.save(state, file, _use_new_zipfile_serialization=is_archive)
        found = read_tensors(file)
        assert list(found) == list(state)
        assert all(torch.equal(found[name], state[name]) for name in state)


def test_a_tensor_with_several_names_is_converted_once(tmp_path):
    tied = torch.zeros(1 << 20, 16, dtype=torch.half)
    file = tmp_path / "pytorch_model.bin"
    torch.save({f"{i}": tied for i in range(6)}, file)
    shapes = {f"{i}": (1 << 20, 16) for i in range(6)}
    with bounded(5, 250):
        found = read_weights(file, {}, shapes)
    assert len({tensor.data_ptr() for tensor in found.values()}) == 1


def test_a_package_of_a_million_entries_is_refused_before_they_are_read(tmp_path):
    package = tmp_path / "x.argosmodel"
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", *[0] * 6, 0, 0, 0, 1, *[0] * 4, 0, 0) + b"x"
    entries = entry * 1_000_000
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 65_535, 65_535, len(entries), 0, 0)
    package.write_bytes(entries + end)
    with pytest.raises(HeadwayError, match="list of entries"), bounded():
        unpack(package, tmp_path)


def test_an_import_tabulates_no_positions_that_are_only_declared(exports, tmp_path):
    theirs = shutil.copytree(exports["huggingface"], tmp_path / "theirs")
    import_model(theirs, tmp_path / "first")  # imports modules, which takes time
    change_json(theirs / "config.json", max_position_embeddings=1_000_000)
    with bounded(5, 100):
        import_model(theirs, tmp_path / "ours")
    assert load_model(tmp_path / "ours").config.model.positions == "sinusoidal"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file of Linux that has no text")
def test_a_link_to_what_cannot_be_read_is_refused(tmp_path):
    file = tmp_path / "config.json"
    file.symlink_to("/proc/self/mem")
    with pytest.raises(HeadwayError, match="Input/output error"):
        read_json(file)


def test_half_a_character_is_refused(tmp_path):
    file = tmp_path / "config.json"
    file.write_text('["\\ud83d"]')
    with pytest.raises(HeadwayError, match="half a character"):
        read_json(file)
