"""A run of the smallest model: the files it leaves, and the model it chooses."""

import itertools
import json
import math
import time
from dataclasses import asdict

import pytest
import torch

from headway.cli.main import dispatch
from headway.config import SearchConfig, TrainingConfig
from headway.text.prepared import PreparedData
from headway.training import validation
from headway.training.machine import Machine
from headway.training.run import run_to_end
from headway.translation import Translator, load_model
from support.runs import assert_equal_runs, command, finished, metrics, opened, perfect_translator


def test_the_weights_of_a_run_directory_have_at_most_the_bytes_that_are_promised(corpus, tmp_path):
    path, most, average = tmp_path / "run", 0, 6
    changes = {
        "training__average": average, "training__checkpoint_every": 1, "training__max_steps": 8
    }  # fmt: skip
    run = opened(path, command(path, corpus, **changes))
    for _ in run_to_end(run):
        files = [file.read_bytes() for file in path.rglob("*.safetensors")]
        headers = sum(8 + int.from_bytes(data[:8], "little") for data in files)
        most = max(most, sum(map(len, files)) - headers)
    run.directory.unlock()
    weights = sum(parameter.numel() for parameter in run.trainer.model.parameters())
    assert 12 * weights < most <= (4 * (average + 6) + 24) * weights  # docs/scaling.md


def test_a_run_directory_is_a_whole_model(uninterrupted_run, capsys):
    found = load_model(uninterrupted_run)
    assert found.languages == ("en", "de")
    assert isinstance(Translator.load(uninterrupted_run, "cpu").translate("1 2 3"), str)
    card = (uninterrupted_run / "README.md").read_text()
    facts = json.loads((uninterrupted_run / "run.json").read_text())
    assert facts["data"]["fingerprint"] in card
    assert "version:2" in card  # sacreBLEU's signature
    assert facts["machine"] == {
        **asdict(Machine.resolve(TrainingConfig(device="cpu"))),
        "threads": 1,
    }
    suffixes = {path.suffix for path in uninterrupted_run.rglob("*") if path.is_file()}
    assert not suffixes & {".pt", ".pth", ".bin", ".pkl"}
    assert capsys.readouterr().out == ""


def test_the_best_model_is_installed(uninterrupted_run):
    validations = [line for line in metrics(uninterrupted_run) if line["event"] == "validation"]
    best = max(validations, key=lambda v: (v["bleu"], -v["perplexity"]))
    facts = json.loads((uninterrupted_run / "run.json").read_text())
    assert {key: best[key] for key in facts["installed"]} == facts["installed"]
    folder = "averaged" if best["averaged"] > 1 else "best"
    name = "model.safetensors"
    assert (uninterrupted_run / name).read_bytes() == (
        uninterrupted_run / folder / name
    ).read_bytes()


def test_patience_ends_a_run_that_learns_nothing_and_the_command_names_it(corpus, tmp_path, capsys):
    path = tmp_path / "run"
    nothing = {"training__rate_scale": 1e-30, "training__patience": 2, "training__max_steps": 40}
    assert dispatch(command(path, corpus, **nothing)) == 0
    validated = [v["step"] for v in metrics(path) if v["event"] == "validation"]
    assert validated == [5, 10, 15, 15]  # the best, two that are no better, the average
    assert dispatch(["train", str(path), "--quiet"]) == 0
    assert [v["step"] for v in metrics(path) if v["event"] == "validation"] == validated
    assert (
        "raise --training.max-steps or --training.patience to train further"
        in capsys.readouterr().err
    )
    assert dispatch(["train", str(path), "--training.max-steps", "41"]) == 0
    assert "finished at step 15 by training.patience" in capsys.readouterr().err


def test_tensorboard_gets_the_curves(corpus, uninterrupted_run, tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    path = tmp_path / "run"
    assert dispatch(command(path, corpus, training__tensorboard="true")) == 0
    assert_equal_runs(path, uninterrupted_run)
    events = reader.EventAccumulator(str(path / "tensorboard"))
    events.Reload()
    losses = [(e.step, e.value) for e in events.Scalars("training/loss")]
    steps = [line for line in metrics(path) if line["event"] == "step"]
    assert losses == [(line["step"], pytest.approx(line["loss"])) for line in steps]
    assert [e.step for e in events.Scalars("validation/bleu")] == [5, 10, 15, 17]


def test_a_clock_that_jumps_changes_nothing(corpus, uninterrupted_run, tmp_path, monkeypatch):
    jumps = itertools.cycle([0.0, 1e9, -1e9, 86_400.0])
    monkeypatch.setattr(time, "time", lambda: 1.7e9 + next(jumps))
    assert dispatch(command(tmp_path / "run", corpus)) == 0
    assert_equal_runs(tmp_path / "run", uninterrupted_run)


@pytest.fixture
def data(uninterrupted_run):
    return PreparedData.open(uninterrupted_run / "data")


def test_validation_scores_raw_text_and_unsmoothed_likelihood(data, uninterrupted_run, monkeypatch):
    monkeypatch.setattr(validation, "Translator", perfect_translator(data))
    monkeypatch.setattr(validation, "GROUP", 3)
    model = load_model(uninterrupted_run).transformer
    before = torch.get_rng_state()
    scores, progress = finished(
        validation.validate(model, data, SearchConfig(beam=1), batch_tokens=70)
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert (scores.bleu, scores.chrf) == (pytest.approx(100), pytest.approx(100))
    *scored, first, second, third = [(p.done, p.of) for p in progress]
    assert [first, second, third] == [(0, 7), (3, 7), (6, 7)]  # translated
    # Scoring reports before each batch, so that a run can be stopped there.
    assert scored[0] == (0, 7)
    assert 1 < len(scored) == len(set(scored)) <= 7

    sums, tokens = 0.0, 0
    with torch.no_grad():
        for row in range(len(data.valid)):
            source, target = (
                torch.from_numpy(x.astype("int64"))[None] for x in data.valid.pair(row)
            )
            logits = model(source, target)[0]
            sums += torch.nn.functional.cross_entropy(logits, target[0], reduction="sum").item()
            tokens += target.size(1)
    assert scores.perplexity == pytest.approx(math.exp(sums / tokens), rel=1e-4)


def test_validation_translates_the_first_sentences_only(data, uninterrupted_run):
    model = load_model(uninterrupted_run).transformer
    scores = [
        finished(
            validation.validate(model, data, SearchConfig(beam=1), batch_tokens=70, sentences=n)
        )
        for n in (0, 3)
    ]
    assert [progress[-1].of for _, progress in scores] == [7, 3]
    assert (
        scores[0][0].perplexity == scores[1][0].perplexity
    )  # the perplexity is always that of all sentences
