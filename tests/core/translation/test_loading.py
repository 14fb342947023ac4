"""Loading a model costs little: no random numbers, no memory for positions, no compiler of torch."""

import json
import shutil

import pytest
import torch

from headway.config import ModelConfig, SearchConfig
from headway.errors import HeadwayError
from headway.translation import Translator
from headway.translation.directory import load_model
from headway.translation.weights import read_network


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
