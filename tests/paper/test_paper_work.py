"""The frame of the experiments: results that survive writing, verdicts, trials that are kept."""

import math
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch

from headway.errors import HeadwayError
from headway.model import Transformer
from headway.paper.experiments import classification, table4
from headway.paper.published import TABLE3
from headway.paper.results import (
    Claim,
    Figure,
    Result,
    Table,
    say,
    t_interval,
    t_quantile,
    verdict,
    verdict_equal,
)
from headway.paper.running import trial as trials
from headway.paper.running.bitext import Bitext
from headway.paper.running.forecast import Forecast, effort
from headway.paper.running.rows import configure
from headway.paper.running.scales import SMALL
from headway.paper.running.work import Job, Work
from headway.paper.running.workers import run_together

TABLE = Table("t", ("a", "b"), (("x", 1), ("y", None), ("z", 2.5)), "n")


def test_a_result_survives_writing() -> None:
    result = Result(
        "one", "One", "3.1", (TABLE,), (Figure("f", "<svg/>"),), (Claim("c", "1", "2", "holds"),),
        "all", 3.5, {"steps": 3},
    )  # fmt: skip
    assert Result.from_json(result.to_json()) == result
    infinite = replace(result, tables=(replace(TABLE, rows=(("x", math.inf),)),))
    assert Result.from_json(infinite.to_json()).tables[0].rows == (("x", None),)
    with pytest.raises(HeadwayError):
        Result.from_json('{"format": 1}')
    with pytest.raises(ValueError, match="2 columns"):
        Table("t", ("a", "b"), (("x",),))
    with pytest.raises(ValueError, match="verdict"):
        Claim("c", "1", "2", "perhaps")


@pytest.mark.parametrize(
    ("degrees", "known"), [(1, 12.7062), (2, 4.3027), (4, 2.7764), (9, 2.2622), (30, 2.0423)]
)
def test_quantiles_are_those_of_the_tables(degrees: int, known: float) -> None:
    assert t_quantile(degrees) == pytest.approx(known, abs=1e-4)


def test_an_interval_by_hand() -> None:
    mean, low, high = t_interval([1.0, 2.0, 3.0])
    half = 4.302653 / math.sqrt(3)
    assert (mean, low, high) == pytest.approx((2.0, 2.0 - half, 2.0 + half), abs=1e-5)
    assert say([1.0, 2.0, 3.0], 1) == "2.0 (-0.5 to 4.5)"
    assert say([1.25], 1, sign=True) == "+1.2"


@pytest.mark.parametrize(
    ("differences", "sign", "found"),
    [
        ([1.0, 1.1, 0.9], 1, "holds"),
        ([1.0, 1.1, 0.9], -1, "does not"),
        ([-1.0, -1.1, -0.9], -1, "holds"),
        ([1.0, -0.5, 0.9], 1, "not decided"),
        ([5.0], 1, "not decided"),
        ([0.0, 0.0, 0.0], 1, "not decided"),
    ],
)
def test_verdicts(differences: list[float], sign: int, found: str) -> None:
    assert verdict(differences, sign) == found


def test_verdicts_of_equality() -> None:
    assert verdict_equal([0.1, -0.1, 0.0], 1.0) == "holds"
    assert verdict_equal([0.1, -0.1, 0.0], 0.1) == "not decided"
    assert verdict_equal([2.1, 2.0, 1.9], 1.0) == "does not"
    assert verdict_equal([0.0], 1.0) == "not decided"


def test_an_unseen_pair_is_unseen() -> None:
    text = Bitext.built_in(300, 6)
    parts = [
        {source.casefold() for source, _ in part} for part in (text.train, text.valid, text.test)
    ]
    assert all(parts)
    assert len(parts[2]) <= 6
    assert not parts[0] & parts[1] | parts[0] & parts[2] | parts[1] & parts[2]
    short = text.only("short", lambda source, target: len(source) < 12)
    assert short.test == text.test
    assert 0 < len(short.train) < len(text.train)
    assert short.fingerprint != text.fingerprint


def freeze(model: Transformer) -> None:
    for parameter in model.parameters():
        parameter.data.zero_()


def test_trials_are_kept_and_differ_by_all_that_matters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    work = Work(tmp_path, "toy", say=said.append)
    first = work.trial("one")
    assert first.steps == 3
    assert [step for step, _ in first.loss] == [1, 2, 3]
    assert first.seconds > 0
    # An untrained model knows nothing: each subword of the vocabulary is about as likely.
    assert 50 < first.perplexity < 2000
    assert first.model.config.d_model == 64
    assert first.parameters == sum(p.numel() for p in first.model.parameters())
    assert first.translator().translate("two") is not None

    def refuse(place: Path) -> None:
        raise AssertionError(f"{place} trained again")

    with monkeypatch.context() as patch:
        patch.setattr("headway.paper.running.work.run_trial", refuse)
        assert Work(tmp_path, "toy").trial("by another name") == first
        for other in (
            Job("seed", work.base, seed=2),
            Job("text", work.base, work.corpus.only("short", lambda s, t: len(s) < 12)),
            Job("change", work.base, change=freeze),
            Job("rate", replace(work.base, training=replace(work.base.training, rate_scale=2.0))),
        ):
            with pytest.raises(AssertionError, match="again"):
                work.trials([other])
    assert len(said) == 1
    # A network of zeros gives every subword the same chance, whatever it learns of its biases.
    zeros = work.trial("zeros", change=freeze)
    assert zeros.perplexity > first.perplexity / 2


def test_trials_run_together_as_they_run_alone(tmp_path: Path) -> None:
    alone = Work(tmp_path / "a", "toy").trials(
        [Job("x", Work(tmp_path, "toy").base, seed=n) for n in (1, 2)]
    )
    work = Work(tmp_path / "b", "toy", processes=2)
    together = work.trials([Job("x", work.base, seed=n) for n in (1, 2, 1)])
    assert [t.perplexity for t in together] == [t.perplexity for t in (*alone, alone[0])]
    assert together[0].perplexity != together[1].perplexity


def test_a_stopped_trial_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Work(tmp_path / "a", "toy").trial("whole")
    work = Work(tmp_path / "b", "toy")
    advance = trials.Run.advance

    def stop_at_two(run: trials.Run) -> object:
        if run.step == 2:
            raise KeyboardInterrupt
        return advance(run)

    with monkeypatch.context() as patch:
        patch.setattr(trials.Run, "advance", stop_at_two)
        with pytest.raises(KeyboardInterrupt):
            work.trial("part")
    steps: list[int] = []
    monkeypatch.setattr(
        trials.Run, "advance", lambda run: (steps.append(run.step), advance(run))[1]
    )
    again = work.trial("part")
    assert steps == [2]
    assert again.loss == whole.loss
    assert again.perplexity == whole.perplexity
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, again.model.state_dict()[name])


def test_equal_settings_in_other_words_are_one_trial(tmp_path: Path) -> None:
    work = Work(tmp_path, "toy", say=(said := []).append)
    rows = {row.label: configure(work.base, row) for row in TABLE3}
    wide = replace(work.base.model, num_heads=1)
    jobs = [Job("one", replace(work.base, model=wide)), Job("two", rows["(A) h = 1"])]
    one, two = work.trials(jobs)
    assert one == two
    assert len([line for line in said if "trial" in line]) == 1
    narrow = replace(wide, d_k=32)
    assert work.trial("three", replace(work.base, model=narrow)).parameters < one.parameters


def test_longer_trainings_are_known_to_be_longer() -> None:
    rows = {row.label: effort(configure(SMALL, row)) for row in TABLE3}
    assert max(rows, key=rows.__getitem__) == "big"
    assert rows["big"] > 3 * rows["(C) d_model = 1024"] > 3 * rows["base"]
    assert rows["(C) N = 2"] < rows["(C) N = 4"] < rows["base"] < rows["(C) N = 8"]
    assert rows["(A) h = 1"] == rows["base"]  # what heads cost is little, and not counted


def test_what_is_left_is_told_by_the_pace_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c = map(Path, "abc")
    times = iter((100.0, 160.0, 220.0))
    monkeypatch.setattr("headway.paper.running.forecast.time.monotonic", lambda: next(times))
    forecast = Forecast({a: 3.0, b: 2.0, c: 1.0}, 1200.0, processes=2)
    assert forecast.first() == "3 trainings, about 10 min"
    assert forecast.after(b) == "1 of 3, 2 min to go"  # two of six took a minute
    assert forecast.after(a) == "2 of 3, 24 s to go"
    assert forecast.after(c) == "3 of 3"


def test_what_a_process_died_of_is_said(tmp_path: Path) -> None:
    places = [tmp_path / name for name in "ab"]
    for place in places:
        place.mkdir()
    with pytest.raises(HeadwayError, match=r"ended with 1: FileNotFoundError.*spec\.json"):
        run_together(trials.run_trial, places, 2, lambda place: None)


@pytest.mark.slow
@pytest.mark.parametrize("experiment", [classification, table4])
def test_other_trials_run_together_as_they_run_alone(
    tmp_path: Path, experiment: ModuleType
) -> None:
    alone, together = (experiment.run(Work(tmp_path / str(n), "toy", processes=n)) for n in (1, 2))
    assert alone.tables == together.tables


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match="scale days"):
        Work(tmp_path, "days")
    with pytest.raises(HeadwayError, match="--train"):
        Work(tmp_path, "hours").trial("base")
