"""Starting a run: rejected requests, the files of a failed start, and the dry run."""

import itertools
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from headway.cli.main import dispatch
from headway.config import PRESETS
from headway.errors import HeadwayError, UsageError
from headway.text.languages import FREQUENT, look_exchanged
from headway.training import dry_run
from headway.training.dry_run import make_dry_run
from headway.training.run import run_to_end
from headway.training.starting import time_budget
from headway.training.starting.request import RunRequest
from headway.training.starting.time_budget import Pace, fill_time
from headway.training.steps.optimizers import learning_rate, warn_if_too_short
from headway.training.steps.trainer import Trainer
from headway.training.storage.run_directory import RunDirectory
from support.runs import assert_equal_runs, command, digest, opened, opening, write_corpus


def test_a_path_that_cannot_be_a_run_is_rejected(corpus, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "mine" / "data").mkdir(parents=True)
    (tmp_path / "mine" / "data" / "thesis.tex").write_text("precious")
    for path in (tmp_path / "file", tmp_path / "file" / "run", tmp_path / "mine"):
        with pytest.raises(HeadwayError, match="give another RUN"):
            dispatch(command(path, corpus))
    assert (tmp_path / "mine" / "data" / "thesis.tex").read_text() == "precious"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"train": "a.en"}, "train = a.en: give a list of files"),
        ({"valid": "v.en"}, "valid = v.en: give a list of files"),
        ({"languages": "en-de"}, "languages = en-de: give two codes"),
        ({"languages": ["en"]}, "give two codes"),
    ],
)
def test_a_text_in_the_place_of_several_files_or_codes_is_refused(given, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        RunRequest(**{"train": ["a.en", "a.de"], "valid": 9} | given).check(tmp_path, is_new=True)


def test_a_failed_start_leaves_no_directory(corpus, tmp_path):
    wrong = command(tmp_path / "run", corpus)
    wrong[wrong.index("--train") + 1] = "nowhere.en"
    with pytest.raises(HeadwayError, match="nowhere"):
        dispatch(wrong)
    assert not (tmp_path / "run").exists()


def test_the_dry_run_changes_nothing(corpus, uninterrupted_run, tmp_path):
    path = tmp_path / "run"
    run = opened(path, command(path, corpus))
    before = digest(run.trainer.tensors())
    result = make_dry_run(run)
    assert digest(run.trainer.tensors()) == before
    assert run.directory.steps() == []
    assert result.disk < result.free
    assert result.tokens_per_second > 0
    for _ in run_to_end(run):
        pass
    run.directory.unlock()
    assert_equal_runs(path, uninterrupted_run)


def test_settings_may_change_after_a_failed_dry_run(
    corpus, uninterrupted_run, tmp_path, monkeypatch
):
    """The settings that the message names can be changed, also after a kill; the text is prepared once."""
    path = tmp_path / "run"
    dispatch(["prepare", str(path / "data"), *corpus, "--text.vocab-size", "331"])
    (path / ".tmp-17-data").mkdir()  # as if killed during the preparation
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    larger = {"training__micro_batch_tokens": 140, "training__average": 5}
    with pytest.raises(HeadwayError, match=r"1,000 are free: .* with training\.average"):
        dispatch(command(path, corpus, **larger))
    monkeypatch.undo()
    (path / ".tmp-17-dry-run").mkdir()  # as if killed during the dry run
    assert dispatch(command(path, corpus)) == 0
    assert_equal_runs(path, uninterrupted_run)
    assert not list(path.glob(".tmp-*"))


def test_a_full_disk_is_noticed_before_anything_is_written(corpus, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    monkeypatch.setattr(dry_run, "write_checkpoint", lambda *_: pytest.fail("written"))
    with pytest.raises(HeadwayError, match="1,000 are free"):
        dispatch(command(tmp_path / "run", corpus))


def test_a_validation_line_longer_than_the_learned_positions_is_named(tmp_path):
    corpus, path = write_corpus(tmp_path, train=60, valid=5), tmp_path / "run"
    file = Path(corpus[5])
    lines = file.read_text().splitlines()
    lines[2] = " ".join(lines)
    file.write_text("".join(f"{line}\n" for line in lines))
    learned = {"model__positions": "learned", "text__max_tokens": 14}
    said = r"data/valid: a text has \d+ tokens, .* = 14: give --model\.max-positions (\d+),"
    with pytest.raises(HeadwayError, match=said) as raised:
        dispatch(command(path, corpus, **learned, model__max_positions=14))
    enough = re.search(said, str(raised.value))[1]
    run = opened(path, command(path, corpus, **learned, model__max_positions=enough))
    run.directory.unlock()


def test_a_dry_run_without_enough_memory_gives_one_line(corpus, tmp_path, monkeypatch):
    path = tmp_path / "run"
    monkeypatch.setattr(Trainer, "compute", lambda self, batch, tokens: [torch.empty(1 << 60)])
    with pytest.raises(HeadwayError, match=r"micro_batch_tokens = 70: .* does not fit"):
        dispatch(command(path, corpus))
    assert not RunDirectory(path).started


@pytest.mark.parametrize("is_exchanged", [False, True])
def test_exchanged_files_are_noticed(is_exchanged, tmp_path, capsys):
    texts = [f"This is the house of {n} people and a dog." for n in range(40)]
    others = [f"Das ist das Haus von {n} Leuten und der Hund." for n in range(40)]
    files = [tmp_path / "a.en", tmp_path / "a.de"]
    for file, lines in zip(
        files, (others, texts) if is_exchanged else (texts, others), strict=True
    ):
        file.write_text("".join(f"{line}\n" for line in lines))
    text = ["--train", *map(str, files), "--valid", "9"]
    path = tmp_path / "run"
    run, notices = opening(path, command(path, text, text__vocab_size=300))
    run.directory.unlock()
    said = "the sides look exchanged: the source is said to be 'en', and looks like 'de'"
    assert [said in notice for notice in notices].count(True) == is_exchanged
    words = ["prepare", str(tmp_path / "data"), *text, "--text.vocab-size", "300"]
    assert dispatch(words) == 0
    assert (said in capsys.readouterr().err) == is_exchanged


def test_a_vocabulary_of_another_size_than_that_of_the_preset_is_noticed(corpus, tmp_path):
    data, path = str(tmp_path / "data"), tmp_path / "run"
    assert dispatch(["prepare", data, *corpus, "--text.vocab-size", "300"]) == 0
    run, notices = opening(path, ["train", str(path), "--data", data, "--preset", "tiny"])
    run.directory.unlock()
    assert f"{data}: its vocabulary has 300 subwords, and the preset has" in "\n".join(notices)


@pytest.mark.parametrize(("one", "other"), [("en", "de"), ("ru", "en"), ("zh", "fr"), ("ja", "tr")])
def test_languages_are_told_by_their_frequent_words(one, other):
    texts = [[" ".join(FREQUENT[code])] * 3 for code in (one, other)]
    assert not look_exchanged(*texts, (one, other))
    assert look_exchanged(*texts, (other, one))
    assert not look_exchanged(texts[0], texts[0], (other, one))  # such text is not translated
    assert not look_exchanged(*texts, (other, "xx"))
    assert not look_exchanged(
        *(each[:1] for each in (texts[0][0].split(), texts[1][0].split())), (other, one)
    )


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
    assert "--minutes 0.05 is short: without it, the run would have" in said
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
    # 5 s, and a validation in the middle, at the end and of the average.
    assert own["max_steps"] == 10
    assert own["warmup_steps"] == 5
    assert own["checkpoint_every"] == 1
    assert own["average"] == 2
