"""Training from a model's weights and vocabulary, or a message of one line that says why not."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.inference import Translator, load_model
from headway.text.prepared import PreparedData
from headway.training.run_directory import RunDirectory
from support.runs import SETTINGS, command, opened, words, write_corpus


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    corpus = write_corpus(folder, train=150, valid=7)
    assert dispatch(command(folder / "run", corpus)) == 0
    return folder / "run"


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


def test_a_run_is_not_resumed_from_an_initial_model_that_has_changed(model, other_text, tmp_path):
    copy = shutil.copytree(model, tmp_path / "model")
    run = opened(tmp_path / "run", fine_tune(tmp_path / "run", other_text, copy))
    run.begin()
    run.directory.unlock()
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    with pytest.raises(HeadwayError, match="has changed since this run started"):
        dispatch(["train", str(tmp_path / "run"), "--quiet"])


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("model.d-model", 24, "model.d_model is 22, not 24"),
        ("model.norm", "pre", "model.norm is post, not pre"),
        ("text.vocab-size", 300, "text.vocab_size is 331, not 300"),
    ],
)
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


def test_a_run_that_has_started_does_not_accept_an_initial_model(model, tmp_path):
    """An existing run can only be resumed."""
    path = Path(shutil.copytree(model, tmp_path / "run"))
    with pytest.raises(HeadwayError, match="has started already"):
        dispatch(["train", str(path), "--init", str(model)])
