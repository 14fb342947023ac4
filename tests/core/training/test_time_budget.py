"""``--minutes``: the length of a training follows from a time, is stored, and changes nothing else."""

import itertools
import json
from dataclasses import replace

import pytest

from headway.cli.main import dispatch
from headway.config import PRESETS
from headway.errors import UsageError
from headway.training.starting import time_budget
from headway.training.starting.time_budget import Pace, fill_time
from headway.training.steps.optimizers import learning_rate, warn_if_too_short
from support.runs import assert_equal_runs, command


def without(words, *names):
    """Return a command line without some settings of the training."""
    for name in names:
        if (option := f"--training.{name}") in words:
            at = words.index(option)
            words = [*words[:at], *words[at + 2 :]]
    return words


@pytest.mark.parametrize("name", ["quick", "base", "tiny"])
@pytest.mark.parametrize("minutes", [3, 40, 3000])
def test_a_length_fills_the_time(name, minutes):
    own, pace = PRESETS[name].training, Pace(step=0.4, validation=6.0)
    found = fill_time(own, minutes, pace)
    validations = -(-found.max_steps // found.validate_every) + 1  # and the one of the average
    seconds = found.max_steps * pace.step + validations * pace.validation
    assert 0.93 * 60 * minutes < seconds < 1.05 * 60 * minutes
    assert (validations - 1) * pace.validation <= 0.21 * 60 * minutes
    assert not warn_if_too_short(found)
    for setting in ("warmup_steps", "cool_steps"):
        share = getattr(own, setting) / own.max_steps * found.max_steps
        assert abs(getattr(found, setting) - share) <= 1, setting
    peaks = [
        learning_rate(c.warmup_steps, d_model=64, warmup_steps=c.warmup_steps, scale=c.rate_scale)
        for c in (own, found)
    ]
    assert peaks[1] == pytest.approx(peaks[0], rel=0.01)


def test_a_time_that_is_too_short_is_named_with_the_shortest():
    with pytest.raises(UsageError, match=r"--minutes 0\.1: a step takes 2\.00 s .* give 0\.4 or"):
        fill_time(PRESETS["quick"].training, 0.1, Pace(step=2.0, validation=9.0))
    without = replace(PRESETS["quick"].training, average=1)
    with pytest.raises(UsageError, match=r"give 0\.2 or more"):
        fill_time(without, 0.1, Pace(step=2.0, validation=9.0))
    fill_time(without, 0.2, Pace(step=2.0, validation=9.0))


@pytest.mark.slow
def test_a_run_of_some_minutes_equals_one_of_its_steps(corpus, tmp_path, monkeypatch, capsys):
    clock = itertools.count(0.0, 0.25)  # each look at it takes a quarter of a second
    monkeypatch.setattr(time_budget.time, "perf_counter", lambda: next(clock))
    path, other = tmp_path / "run", tmp_path / "other"
    words = [*without(command(path, corpus), "max-steps"), "--ranks", "1"]
    words.remove("--quiet")
    assert dispatch([*words, "--minutes", "0.05"]) == 0
    said = capsys.readouterr().err
    stored = json.loads((path / "run.json").read_text())
    own = stored["settings"]["training"]
    assert f"--minutes 0.05: {own['max_steps']:,} steps of 0." in said
    assert 3 <= own["max_steps"] <= 20
    assert own["checkpoint_every"] == 3  # what the user sets stays
    lengths = ("max_steps", "warmup_steps", "rate_scale")
    same = [w for n in lengths for w in (f"--training.{n.replace('_', '-')}", str(own[n]))]
    assert dispatch([words[0], str(other), *words[2:], *same]) == 0
    assert_equal_runs(path, other)
    # The same command goes on, or finds the run finished; another time is refused.
    assert dispatch([*words, "--minutes", "0.05"]) == 0
    with pytest.raises(UsageError, match=r"was started with 0\.05, and has"):
        dispatch([*words, "--minutes", "0.07"])


@pytest.mark.slow
def test_a_preset_and_a_file_given_again_do_not_bring_their_own_length(
    corpus, tmp_path, monkeypatch
):
    monkeypatch.setattr(time_budget, "measure_pace", lambda *_: Pace(step=0.5, validation=0.3))
    file = tmp_path / "own.toml"
    file.write_text("[training]\nmax_steps = 1000\nwarmup_steps = 500\n")
    words = [*without(command(tmp_path / "run", corpus), "max-steps"), "--ranks", "1"]
    words += ["--minutes", "0.1", "--preset", "tiny", "--config", str(file)]
    for _ in range(2):  # the second time the run is finished
        assert dispatch(words) == 0


def test_checkpoints_take_a_tenth_of_the_time_at_most():
    found = fill_time(PRESETS["big"].training, 5, Pace(step=0.15, validation=5, checkpoint=3.0))
    assert found.max_steps // found.checkpoint_every <= 10


@pytest.mark.slow
def test_the_lengths_of_a_file_follow_the_time_and_those_of_options_stay(
    corpus, tmp_path, monkeypatch
):
    monkeypatch.setattr(time_budget, "measure_pace", lambda *_: Pace(step=0.5, validation=0.3))
    file = tmp_path / "own.toml"
    file.write_text("[training]\nmax_steps = 1000\nwarmup_steps = 500\ncheckpoint_every = 100\n")
    lengths = ("max-steps", "warmup-steps", "checkpoint-every", "validate-every")
    words = without(command(tmp_path / "run", corpus), *lengths)
    more = ["--config", str(file), "--minutes", "0.1", "--training.average", "2"]
    assert dispatch([*words, "--ranks", "1", *more]) == 0
    own = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]["training"]
    assert (
        own["max_steps"] == 10
    )  # 5 s, and a validation in the middle, at the end and of the average
    assert own["warmup_steps"] == 5
    assert own["checkpoint_every"] == 1
    assert own["average"] == 2
