"""Training from a model's weights and vocabulary, or a message of one line that says why not."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from headway.cli.main import dispatch
from headway.config import PRESETS, Config, ModelConfig
from headway.errors import HeadwayError
from headway.model import Transformer
from headway.text.prepared import PreparedData
from headway.training.starting.fine_tuning import (
    check_shape,
    check_text,
    choose_layers,
    fine_tuning_steps,
)
from headway.training.steps.optimizers import learning_rate
from headway.training.storage.run_directory import RunDirectory
from headway.translation import Translator, load_model
from support.cases import each_case
from support.runs import SETTINGS, opened, opening, words, write_corpus


@pytest.fixture(scope="module")
def model(uninterrupted_run):
    return uninterrupted_run


@pytest.fixture(scope="module")
def other_text(tmp_path_factory):
    """Another text of the same kind, from which another vocabulary would be learned."""
    folder = tmp_path_factory.mktemp("other")
    write_corpus(folder, train=90, valid=5)
    for name in ("train.en", "train.de"):
        path = folder / name
        path.write_text("".join(f"{line} ?\n" for line in path.read_text().splitlines()))
    return ["--train", *(str(folder / f"train.{c}") for c in ("en", "de")),
            "--valid", *(str(folder / f"valid.{c}") for c in ("en", "de"))]  # fmt: skip


def fine_tune(path, text, model, **changes):
    training = {name: value for name, value in SETTINGS.items() if name.startswith("training.")}
    training |= {"training.max-steps": 2}
    training |= {name.replace("__", "."): value for name, value in changes.items()}
    return ["train", str(path), *text, "--quiet", "--init", str(model), *words(training)]


def test_a_run_starts_from_the_weights_and_vocabulary_of_the_model(model, other_text, tmp_path):
    path = tmp_path / "run"
    assert dispatch(fine_tune(path, other_text, model, model__dropout=0.4)) == 0
    first, tuned = load_model(model), load_model(path)
    assert tuned.tokenizer.fingerprint == first.tokenizer.fingerprint
    assert tuned.config.model.dropout == 0.4
    assert tuned.config.model.d_model == first.config.model.d_model
    assert isinstance(Translator.load(path, "cpu").translate("1 2 3"), str)
    digest = json.loads((path / "run.json").read_text())["init"]["sha256"]
    assert digest in (path / "README.md").read_text()


def test_before_the_first_step_the_run_computes_what_the_model_computes(
    model, other_text, tmp_path
):
    run = opened(tmp_path / "run", fine_tune(tmp_path / "run", other_text, model))
    run.begin()
    weights = load_model(model).transformer.state_dict()
    for name, value in run.trainer.model.state_dict().items():
        assert torch.equal(value, weights[name]), name
    run.directory.unlock()
    # Stopped before its first checkpoint, the run starts from the model again and not from random weights.
    assert not RunDirectory(tmp_path / "run").steps()
    again = opened(tmp_path / "run", ["train", str(tmp_path / "run"), "--quiet"])
    for name, value in again.trainer.model.state_dict().items():
        assert torch.equal(value, weights[name]), name
    again.directory.unlock()


@pytest.mark.parametrize(
    ("own", "wanted", "layers"),
    [(4, 4, [0, 1, 2, 3]), (4, 1, [0]), (4, 2, [0, 3]), (5, 3, [0, 2, 4]), (12, 3, [0, 6, 11])],
)
def test_a_run_with_fewer_layers_takes_some_of_the_model(own, wanted, layers):
    shape = ModelConfig(
        num_encoder_layers=own, num_decoder_layers=own, d_model=6, d_ff=7, num_heads=2,
        source_vocab_size=11, target_vocab_size=11,
    )  # fmt: skip
    given, few = Transformer(shape).state_dict(), replace(shape, num_decoder_layers=wanted)
    found = choose_layers(given, shape, few)
    assert found.keys() == Transformer(few).state_dict().keys()
    for name, value in found.items():
        part = re.fullmatch(r"(decoder\.layers\.)(\d+)(.*)", name)
        assert torch.equal(
            value, given[f"{part[1]}{layers[int(part[2])]}{part[3]}" if part else name]
        )


def test_layers_of_which_the_number_means_something_are_not_left_out():
    shape = ModelConfig(num_encoder_layers=4, encoder_mixer="dilated")
    model = SimpleNamespace(config=Config(model=shape), path="m")
    for name, count in (("num_encoder_layers", 2), ("num_decoder_layers", 0)):
        wanted = Config(model=replace(shape, **{name: count}))
        with pytest.raises(HeadwayError, match=f"fixed by --init m: model.{name}"):
            check_shape(wanted, model)
    check_shape(Config(model=replace(shape, num_decoder_layers=2)), model)


@each_case
def test_settings_that_the_weights_determine_cannot_be_set(
    model, other_text, tmp_path, setting, value, message
):
    line = [*fine_tune(tmp_path / "run", other_text, model), f"--{setting}", str(value)]
    with pytest.raises(HeadwayError, match=f"fixed by --init {model}: {message}"):
        dispatch(line)
    assert not (tmp_path / "run" / "run.json").exists()


def test_prepared_data_must_have_the_vocabulary_of_the_model(model, other_text, tmp_path):
    learn = ["--text.vocab-size", "331"]
    assert dispatch(["prepare", str(tmp_path / "own"), *other_text, *learn]) == 0
    kept = ["--vocabulary", str(model)]
    assert dispatch(["prepare", str(tmp_path / "kept"), *other_text, *kept]) == 0
    pieces = [PreparedData.open(tmp_path / n).tokenizer.fingerprint for n in ("own", "kept")]
    assert pieces[1] == load_model(model).tokenizer.fingerprint != pieces[0]
    own, kept = (["--data", str(tmp_path / name)] for name in ("own", "kept"))
    assert dispatch(fine_tune(tmp_path / "run", kept, model)) == 0
    with pytest.raises(HeadwayError) as error:
        dispatch(fine_tune(tmp_path / "other", own, model))
    assert str(error.value) == (
        f"{tmp_path / 'own'}: prepared with another vocabulary than {model} has:"
        f" prepare it with --vocabulary {model}"
    )


@pytest.mark.parametrize("preset", [[], ["--preset", "tiny"]])
def test_the_command_that_started_a_run_from_a_model_goes_on_with_it(
    model, other_text, tmp_path, preset
):
    """Also with a preset: its sizes of the model must not replace those of the run."""
    path = tmp_path / "run"
    line = [*fine_tune(path, other_text, model), *preset]
    run = opened(path, line)
    run.begin()
    run.directory.unlock()
    again = opened(path, line)
    again.directory.unlock()
    assert again.config == run.config


def test_a_run_is_not_resumed_with_another_initial_model(model, other_text, tmp_path):
    own, other = (Path(shutil.copytree(model, tmp_path / name)) for name in ("own", "other"))
    weights = (other / "model.safetensors").read_bytes()
    changed = weights[:-1] + bytes([weights[-1] ^ 1])
    (other / "model.safetensors").write_bytes(changed)
    run = opened(tmp_path / "run", fine_tune(tmp_path / "run", other_text, own))
    run.begin()
    run.directory.unlock()
    with pytest.raises(
        HeadwayError, match=rf"--init {other} has other weights than before \({own}\)"
    ):
        dispatch(fine_tune(tmp_path / "run", other_text, other))
    with pytest.raises(HeadwayError, match=f"--init {other} has other weights than before"):
        dispatch(["train", str(model), "--init", str(other)])
    (own / "model.safetensors").write_bytes(changed)
    with pytest.raises(HeadwayError, match="has changed since this run started"):
        dispatch(["train", str(tmp_path / "run"), "--quiet"])


def test_a_variety_of_a_language_is_not_another_language(model):
    pairs = [("en_GB", "de-AT")]
    check_text(load_model(model), "text", pairs, has_symbols=False, may_differ=False)


def test_without_a_preset_the_run_inherits_the_regime_of_the_model(model, other_text, tmp_path):
    own = load_model(model).config.training
    run, notices = opening(
        tmp_path / "run", ["train", str(tmp_path / "run"), *other_text, "--init", str(model)]
    )
    run.directory.unlock()
    regime = run.config.training
    changes = "validate_every", "checkpoint_every", "threads", "rate_scale"
    chosen = {name: getattr(regime, name) for name in changes}
    assert regime == replace(own, max_steps=8, warmup_steps=1, cool_steps=7, **chosen)
    own_peak, peak = (
        learning_rate(c.warmup_steps, d_model=22, warmup_steps=c.warmup_steps, scale=c.rate_scale)
        for c in (own, regime)
    )
    assert peak == pytest.approx(own_peak / 2, rel=0.01)
    assert run.config.search == load_model(model).config.search
    notice = next(line for line in notices if "fine-tuning" in line)
    assert f"regime of {model}, in 8 instead of 17 steps" in notice


def test_settings_and_presets_replace_the_inherited_regime(model, other_text, tmp_path):
    line = ["train", str(tmp_path / "run"), *other_text, "--init", str(model)]
    run = opened(tmp_path / "run", [*line, "--training.max-steps", "30", "--training.seed", "5"])
    run.directory.unlock()
    regime = run.config.training
    assert (regime.max_steps, regime.warmup_steps, regime.cool_steps, regime.seed) == (30, 3, 27, 5)
    run, notices = opening(tmp_path / "other", [*line, "--preset", "tiny"])
    run.directory.unlock()
    assert run.config.training == PRESETS["tiny"].training
    assert not any("fine-tuning" in notice for notice in notices)


@pytest.mark.parametrize(
    ("tokens", "steps"), [(100, 200), (50_000, 400), (10**6, 1600), (10**12, 1600)]
)
def test_the_length_of_fine_tuning_follows_the_text(tokens, steps):
    assert fine_tuning_steps(PRESETS["quick"].training, tokens) == steps


def test_a_model_of_other_languages_is_rejected(model, tmp_path):
    files = write_corpus(tmp_path)
    for word in [word for word in files if word.endswith(".de")]:
        path = Path(word)
        files[files.index(word)] = str(path.rename(path.with_suffix(".nl")))
    line = fine_tune(tmp_path / "run", files, model)
    message = "translates from en to de, and the text is from en to nl: .* --other-languages"
    with pytest.raises(HeadwayError, match=message):
        dispatch(line)
    assert not (tmp_path / "run" / "data").exists()
    assert dispatch(["prepare", str(tmp_path / "data"), *files, "--vocabulary", str(model)]) == 0
    with pytest.raises(HeadwayError, match=message):
        dispatch(fine_tune(tmp_path / "run", ["--data", str(tmp_path / "data")], model))
    assert dispatch([*line, "--other-languages"]) == 0
