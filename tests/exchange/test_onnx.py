"""ONNX graphs: onnxruntime computes the same as Headway, with and without the cache."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from headway.config import ModelConfig
from headway.exchange.onnx.runner import Runner
from headway.exchange.onnx.writer import find_refusals, write
from headway.text.tokenizer import Tokenizer
from support.random_models import EXACT, EXACT_IN_ONNX, check_exact, make_model, two_vocabularies

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
__all__ = ["two_vocabularies"]  # a fixture


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*EXACT, *EXACT_IN_ONNX])
def test_an_export_is_exact(name: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    model = make_model(tokenizer, **{**EXACT, **EXACT_IN_ONNX}[name])
    check_exact(model, "onnx", tmp_path / "out", 1e-4)


@pytest.mark.slow
def test_two_vocabularies_of_two_sizes_are_exact(
    two_vocabularies: Tokenizer, tmp_path: Path
) -> None:
    models = two_vocabularies.models
    for out, tokenizer in (("a", Tokenizer(*models)), ("b", Tokenizer(*models[::-1]))):
        model = make_model(tokenizer, tying="none")
        check_exact(model, "onnx", tmp_path / out, 1e-4)


def test_inputs_and_outputs_have_the_names_of_optimum(tokenizer: Tokenizer, tmp_path: Path) -> None:
    write(make_model(tokenizer, num_decoder_layers=1), tmp_path / "out", "float32")
    found = {}
    for name in ("encoder_model", "decoder_model", "decoder_with_past_model"):
        session = onnxruntime.InferenceSession(tmp_path / "out" / f"{name}.onnx")
        found[name] = (
            {put.name for put in session.get_inputs()},
            {put.name for put in session.get_outputs()},
        )
    kinds = [f"0.{side}.{part}" for side in ("decoder", "encoder") for part in ("key", "value")]
    own = {f"present.{kind}" for kind in kinds[:2]}
    mask = "encoder_attention_mask"
    assert found == {
        "encoder_model": ({"input_ids", "attention_mask"}, {"last_hidden_state"}),
        "decoder_model": (
            {"input_ids", mask, "encoder_hidden_states"},
            {"logits"} | {f"present.{kind}" for kind in kinds},
        ),
        "decoder_with_past_model": (
            {"input_ids", mask} | {f"past_key_values.{kind}" for kind in kinds},
            {"logits"} | own,
        ),
    }
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["model_type"] == "marian"
    assert config["pad_token_id"] == tokenizer.target_pad


def test_a_tied_matrix_is_stored_once(tokenizer: Tokenizer, tmp_path: Path) -> None:
    sizes = []
    for tying in ("three-way", "none"):
        write(make_model(tokenizer, tying=tying), tmp_path / tying, "float32")
        sizes.append((tmp_path / tying / "decoder_model.onnx").stat().st_size)
    assert sizes[1] - sizes[0] == pytest.approx(331 * 24 * 4, rel=0.01)


@pytest.mark.slow
def test_int8_rounds_each_row_with_its_own_scale(tokenizer: Tokenizer, tmp_path: Path) -> None:
    model = make_model(tokenizer)
    write(model, tmp_path / "full", "float32")
    write(model, tmp_path / "small", "int8")
    full, small = (Runner(tmp_path / name) for name in ("full", "small"))
    sources = model.tokenizer.encode_source(["the cat sees a dog", "a", "the green house"])
    targets = model.tokenizer.encode_target(["die Katze", "eine", "das grüne Haus läuft unter"])
    exact, rounded = (runner.log_probs(sources, targets) for runner in (full, small))
    differences = [
        abs(a - b) for x, y in zip(exact, rounded, strict=True) for a, b in zip(x, y, strict=True)
    ]
    assert 1e-4 < max(differences) < 0.5
    # The other sentences of a batch change only the last bits.
    for source, target, together in zip(sources, targets, rounded, strict=True):
        [alone] = small.log_probs([source], [target])
        assert alone == pytest.approx(together, abs=1e-4)


def test_a_sentence_in_a_batch_is_translated_as_if_alone(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    model = make_model(tokenizer)
    write(model, tmp_path / "out", "float32")
    runner = Runner(tmp_path / "out")
    sources = model.tokenizer.encode_source(["the cat sees a dog", "a", "the green house"])
    together = runner.translate_greedily(sources, [9, 3, 5])
    assert together == [
        runner.translate_greedily([s], [n])[0] for s, n in zip(sources, [9, 3, 5], strict=True)
    ]
    assert [len(tokens) <= n for tokens, n in zip(together, [9, 3, 5], strict=True)] == [True] * 3
    assert all(tokens[-1] == Tokenizer.eos for tokens in together)


REFUSED: dict[str, dict[str, Any]] = {
    "encoder_mixer": {"encoder_mixer": "gru"},
    "decoder_mixer": {"decoder_mixer": "separable"},
    "compatibility": {"compatibility": "additive"},
    "window": {"window": 5},
    "num_decoder_layers": {"num_decoder_layers": 0},
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_unsupported_setting_is_rejected(name: str) -> None:
    config = ModelConfig(source_vocab_size=11, target_vocab_size=11, d_model=24, num_heads=3)
    assert find_refusals(config) == []
    [reason] = find_refusals(replace(config, **REFUSED[name]))
    assert reason.startswith(name)


def test_graphs_have_no_unused_parts(
    tokenizer: Tokenizer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(make_model(tokenizer), tmp_path / "out", "float32")
    Runner(tmp_path / "out")
    assert capfd.readouterr().err == ""  # onnxruntime warns about unused parts
