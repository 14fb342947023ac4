"""What a model directory may hold: loaded as it was saved, refused in one line, and within bounds."""

import json
import pickle
import shutil
import struct

import pytest
import torch

from headway.cli.main import dispatch
from headway.config import ModelConfig, SearchConfig
from headway.config.loading import from_dict
from headway.errors import HeadwayError
from headway.translation import Translator
from headway.translation.directory import load_any_model, load_model
from headway.translation.weights import read_network
from support.bounds import bounded
from support.cases import read_rows
from support.damaged_models import damaged
from support.trap import Trap


def test_loading_draws_no_random_number(model_directory):
    before = torch.get_rng_state()
    load_model(model_directory)
    assert torch.equal(torch.get_rng_state(), before)


def test_loaded_weights_can_be_trained(model_directory):
    """Assigned weights keep their gradients and the hook that keeps the row of <pad> zero."""
    model = load_model(model_directory).transformer.train()
    assert all(parameter.requires_grad for parameter in model.parameters())
    pad = model.config.source_vocab_size - 1
    model(torch.tensor([[5, 6, 1]]), torch.tensor([[7, pad, 1]])).sum().backward()
    gradient = model.source_embedding.weight.grad
    assert gradient is not None
    assert gradient[5].any()
    assert not gradient[pad].any()


def test_many_configured_positions_take_no_memory(model_directory, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(model_directory, copy)
    values = json.loads((copy / "config.json").read_text())
    values["settings"]["model"]["max_positions"] = 1_000_000
    (copy / "config.json").write_text(json.dumps(values))
    translator = Translator.load(copy)
    assert translator.translate("the cat") == Translator.load(model_directory).translate("the cat")
    assert translator.score("the cat", "die Katze") < 0
    assert translator.model.source_positions.table.size(0) <= 1024


@pytest.mark.parametrize("code", ["/tmp/x", "../x", "..", "a\nb", "\x1b[31m", "a b", "x" * 40])
def test_codes_of_languages_are_safe_as_parts_of_file_names(model_directory, tmp_path, code):
    copy = tmp_path / "model"
    shutil.copytree(model_directory, copy)
    values = json.loads((copy / "config.json").read_text())
    for change in ({"languages": [code, "de"]}, {"pairs": [["en", "de"], ["en", code]]}):
        (copy / "config.json").write_text(json.dumps(values | change))
        with pytest.raises(
            HeadwayError, match=r"config.json: (languages|pairs) must be .*codes, such as"
        ):
            load_model(copy)


def test_weights_that_cannot_be_opened_give_the_reason(tmp_path):
    with pytest.raises(HeadwayError, match="Is a directory"):
        read_network(tmp_path, ModelConfig())


@pytest.mark.parametrize(
    ("precision", "device", "chosen"),
    [("int8", "auto", "cpu"), ("fp32", "auto", "auto"), ("fp32", "cpu", "cpu")],
)
def test_a_model_in_int8_is_loaded_on_the_processor(
    model_directory, monkeypatch, precision, device, chosen
):
    """No GPU has int8 products here, so that "auto" must not choose one."""
    asked = []

    def resolve(name):
        asked.append(name)
        return torch.device("cpu")

    monkeypatch.setattr("headway.translation.translator.resolve_device", resolve)
    model = load_model(model_directory)
    search = SearchConfig(precision=precision)
    Translator(model.transformer, model.tokenizer, search, device)
    assert asked == [chosen]


SETTINGS = read_rows(__file__, "SETTINGS")


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


def test_randomly_damaged_directories_are_rejected_or_work(model_directory, tmp_path):
    cases = [damaged({"headway": model_directory}, tmp_path, seed) for seed in range(50)]
    assert [case for case in cases if not case[1].is_right] == []
    assert {outcome.what for _, outcome in cases} == {"refused", "accepted"}


@pytest.mark.parametrize("name", ["beam", "n_best", "max_tokens"])
def test_a_file_cannot_ask_for_an_excessive_search(name, model_directory, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(model_directory, copy)
    values = json.loads((copy / "config.json").read_text())
    values["settings"]["search"] |= {"beam": 10**6} if name == "n_best" else {}
    values["settings"]["search"][name] = 10**6
    (copy / "config.json").write_text(json.dumps(values))
    with pytest.raises(HeadwayError, match=rf"search\.{name} = 1000000 must be at most"), bounded():
        load_any_model(copy)


def test_a_person_may_ask_for_a_larger_search(model_directory, tmp_path):
    (tmp_path / "text").write_text("the cat\n", encoding="utf-8")
    files = ["--input", str(tmp_path / "text"), "--output", str(tmp_path / "out")]
    words = ["translate", str(model_directory), *files, "--search.beam", "65"]
    assert dispatch([*words, "--search.max-extra", "2"]) == 0


def test_every_number_of_the_settings_is_finite():
    for value in (10**400, float("inf"), float("nan"), True, "1", None, [1]):
        with pytest.raises(HeadwayError, match="must be a finite number"):
            from_dict({"training": {"rate_scale": value}}, "config.json")


def test_a_file_of_unknown_settings_is_refused_at_once():
    names = {f"d_mode{i}": 1 for i in range(60_000)}
    with pytest.raises(HeadwayError) as refused, bounded():
        from_dict({"model": names}, "config.json")
    assert len(str(refused.value).splitlines()) == 20
