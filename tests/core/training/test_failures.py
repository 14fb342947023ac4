"""Steps that are not finite: they are skipped, and many of them roll the run back."""

import contextlib
import shutil
from pathlib import Path

import pytest
import torch

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.training import run as run_module
from headway.training.run import run_to_end
from headway.training.steps.trainer import StepReport, Trainer
from headway.training.storage.checkpoint import read_tensors
from headway.training.storage.run_directory import RunDirectory
from headway.translation import load_model
from support.runs import command, metrics, opened

# Only at the end.
UNVALIDATED = {"training__validate_every": 100}


def poisoned(monkeypatch, steps):
    """Make one number in the gradients of these steps NaN or infinite."""
    original = Trainer.compute

    def compute(self, batch, tokens):
        gradient = original(self, batch, tokens)
        if self.steps in steps:
            tensor = gradient[self.steps % (len(gradient) - 1)]
            tensor.view(-1)[-1] = float(("nan", "inf", "-inf")[self.steps % 3])
        return gradient

    monkeypatch.setattr(Trainer, "compute", compute)


def test_a_step_that_is_not_finite_is_skipped_and_its_text_is_kept(corpus, tmp_path, monkeypatch):
    poisoned(monkeypatch, {3, 4, 8})
    path = tmp_path / "run"
    assert dispatch(command(path, corpus, training__max_steps=9, **UNVALIDATED)) == 0
    skipped = [line["step"] for line in metrics(path) if line.get("skipped")]
    assert skipped == [3, 4, 8]
    text = (path / "bad-batches" / "step-4.txt").read_text().split("\n\n")
    known = Path(corpus[1]).read_text().splitlines()
    assert all(pair.splitlines()[0] in known for pair in text if pair)
    assert all(weight.isfinite().all() for weight in load_model(path).transformer.parameters())


def test_many_bad_steps_in_a_row_roll_back_to_the_last_checkpoint(corpus, tmp_path, monkeypatch):
    poisoned(monkeypatch, {7, 8})
    path = tmp_path / "run"
    run = opened(path, command(path, corpus, training__max_failures=2, **UNVALIDATED))
    for event in run_to_end(run):
        if isinstance(event, StepReport) and event.step == 8:
            break
        weights = run.trainer.model.source_embedding.weight.clone()
    good, _ = run.directory.load(6, run.record.identity)
    assert torch.equal(
        run.trainer.model.source_embedding.weight, good["model"]["source_embedding.weight"]
    )
    assert torch.equal(weights, good["model"]["source_embedding.weight"])  # step 7 was skipped
    assert run.state.roll_backs == 1
    assert (run.step, run.feed.position > (0, 0, 0)) == (8, True)  # with new data
    run.directory.unlock()
    assert {"event": "roll-back", "step": 8, "to": 6} in metrics(path)


def test_a_roll_back_does_not_depend_on_checkpoints_beside_the_series(
    corpus, tmp_path, monkeypatch
):
    poisoned(monkeypatch, {8})
    monkeypatch.setattr(run_module, "MAX_UNSAVED_SECONDS", 0.0)
    path = tmp_path / "run"
    run = opened(path, command(path, corpus, training__max_failures=1, **UNVALIDATED))
    with contextlib.closing(run_to_end(run)) as events:
        next(event for event in events if isinstance(event, StepReport) and event.step == 8)
    run.directory.unlock()
    assert {"event": "roll-back", "step": 8, "to": 6} in metrics(path)


@pytest.mark.parametrize(("bad", "last", "averaged"), [({8, 9}, 9, [3, 6]), ({9}, 10, [6, 10])])
def test_weights_that_a_run_went_back_to_are_averaged_once(
    bad, last, averaged, corpus, tmp_path, monkeypatch
):
    poisoned(monkeypatch, bad)
    path = tmp_path / "run"
    settings = {"training__max_failures": 1, **UNVALIDATED}
    run = opened(path, command(path, corpus, **settings, training__max_steps=last))
    for _ in run_to_end(run):
        pass
    run.directory.unlock()
    assert run.averaged_steps() == averaged
    assert metrics(path)[-1]["checkpoints"] == averaged
    first, second = (read_tensors(run.directory.weights(step)) for step in averaged)
    assert any(not torch.equal(first[name], second[name]) for name in first)


def test_a_run_that_keeps_diverging_stops_with_a_message_of_one_line(corpus, tmp_path, monkeypatch):
    poisoned(monkeypatch, set(range(8, 18)))
    path = tmp_path / "run"
    diverged = r"diverged after 3 returns to earlier .* start another RUN with --data \S+/run/data"
    with pytest.raises(HeadwayError, match=diverged):
        dispatch(command(path, corpus, training__max_failures=1, **UNVALIDATED))
    assert all(
        weight.isfinite().all()
        for step in RunDirectory(path).steps()
        for weight in read_tensors(RunDirectory(path).weights(step)).values()
    )


def test_divergences_far_apart_are_not_counted_together(corpus, tmp_path, monkeypatch):
    poisoned(monkeypatch, {2, 5, 8, 11})
    path = tmp_path / "run"
    settings = {
        "training__max_failures": 1, "training__max_steps": 12, "training__checkpoint_every": 1
    }  # fmt: skip
    assert dispatch(command(path, corpus, **settings, **UNVALIDATED)) == 0
    assert sum(line.get("event") == "roll-back" for line in metrics(path)) == 4


def test_weights_that_are_not_finite_never_reach_a_checkpoint(corpus, tmp_path):
    path = tmp_path / "run"
    run = opened(path, command(path, corpus, **UNVALIDATED))
    for event in run_to_end(run):
        if isinstance(event, StepReport) and event.step == 8:
            with torch.no_grad():
                run.trainer.model.source_embedding.weight[5, 3] = float("nan")
            run.save()  # as for a signal at this moment
            assert 8 not in run.directory.steps()
        if isinstance(event, StepReport) and event.step == 9:
            break
    run.save()
    tensors, _ = run.directory.load(9, run.record.identity)
    assert all(weight.isfinite().all() for weight in tensors["model"].values())
    run.directory.unlock()


def test_a_roll_back_needs_an_optimizer(corpus, tmp_path, monkeypatch):
    """Without the newest checkpoint of the series, the one before it may have weights alone."""
    path = tmp_path / "run"
    settings = {"training__max_failures": 1, "training__average": 3, **UNVALIDATED}
    run = opened(path, command(path, corpus, **settings))
    with contextlib.closing(run_to_end(run)) as events:
        next(event for event in events if isinstance(event, StepReport) and event.step == 10)
    run.directory.unlock()
    weights = run.directory.weights(9)
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    poisoned(monkeypatch, {11})
    more = ["train", str(path), "--training.average", "4"]
    with pytest.raises(HeadwayError, match=r"009/model.safetensors: .*: delete \S+step-00000009"):
        dispatch([*more, "--quiet"])
    shutil.rmtree(weights.parent)
    run = opened(path, more)
    with contextlib.closing(run_to_end(run)) as events:
        next(event for event in events if isinstance(event, StepReport) and event.step == 11)
    run.directory.unlock()
    assert {"event": "roll-back", "step": 11, "to": 10} in metrics(path)
