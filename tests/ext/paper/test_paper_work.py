"""The parts that all experiments use: results as JSON, verdicts, trials, workers."""

import math
from dataclasses import replace
from string import ascii_lowercase

import pytest
import torch

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.ext.paper.results import Claim, Figure, Findings, Table
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.settings_tables import list_trainings
from headway.ext.paper.running.study import Study
from headway.ext.paper.running.unmasking import remove_mask
from headway.ext.paper.running.workers import run_together
from headway.ext.paper.verdicts import (
    count_surviving,
    interval_text,
    p_value,
    percent_text,
    perplexity_text,
    t_interval,
    verdict,
    verdict_not_worse,
)
from headway.text.prepared import PreparedData
from headway.training.steps.trainer import Trainer

TABLE = Table("t", ("a", "b"), (("x", 1), ("y", None), ("z", 2.5)), "n")


def test_a_result_is_read_as_it_was_written():
    result = Findings(
        "one", "One", "3.1", (TABLE,), (Figure("f", "<svg/>"),), (Claim("c", "1", "2", "holds"),),
        "all", 3.5, {"steps": 3},
    )  # fmt: skip
    assert Findings.from_json(result.to_json()) == result
    infinite = replace(result, tables=(replace(TABLE, rows=(("x", math.inf),)),))
    assert Findings.from_json(infinite.to_json()).tables[0].rows == (("x", None),)
    with pytest.raises(HeadwayError):
        Findings.from_json('{"format": 1}')
    with pytest.raises(ValueError, match="2 columns"):
        Table("t", ("a", "b"), (("x",),))
    with pytest.raises(ValueError, match="verdict"):
        Claim("c", "1", "2", "perhaps")


def test_an_interval_equals_one_computed_by_hand():
    mean, low, high = t_interval([1.0, 2.0, 3.0])
    half = 4.302653 / math.sqrt(3)
    assert (mean, low, high) == pytest.approx((2.0, 2.0 - half, 2.0 + half), abs=1e-5)
    assert interval_text([1.0, 2.0, 3.0], 1) == "2.0 (-0.5 to 4.5)"
    assert interval_text([1.25], 1, sign=True) == "+1.2"


def test_equal_differences_are_no_surer_than_the_smallest_one_that_there_is():
    equal, half = [-0.25, -0.25, -0.25], 0.2 * 4.302653 / math.sqrt(3)
    assert (
        interval_text(equal, 3, spread=0.2) == f"-0.250 ({-0.25 - half:.3f} to {-0.25 + half:.3f})"
    )
    assert p_value(equal, 0.2) == pytest.approx(p_value([-0.45, -0.25, -0.05]))
    assert (verdict(equal, 1), verdict(equal, 1, 0.2)) == ("does not", "not decided")
    assert t_interval([1.0, 2.0, 3.0], 0.9) == t_interval([1.0, 2.0, 3.0])


def test_an_interval_ends_where_no_value_can_be():
    assert interval_text([0.1, 0.3, 1.0], 1) == "0.5 (-0.7 to 1.6)"
    assert percent_text([99.0, 100.0, 98.0], 1) == "99.0 (96.5 to 100.0)"
    assert percent_text([0.0, 1.0, 2.0], 1) == "1.0 (0.0 to 3.5)"
    assert perplexity_text([1.1, 1.3, 1.5]) == "1.30 (1.00 to 1.80)"


def test_p_values_equal_those_of_printed_tables_and_are_judged_together():
    # The mean of three seeds is 4.3027 of its standard errors from zero where the interval ends there.
    half = 4.302653 / math.sqrt(3)
    assert p_value([half - 1, half, half + 1]) == pytest.approx(0.05, abs=1e-5)
    assert p_value([-half - 1, -half, -half + 1]) == pytest.approx(0.05, abs=1e-5)
    assert p_value([1.0, -1.0, 0.0]) == pytest.approx(1.0)
    assert (p_value([3.0]), p_value([0.0, 0.0]), p_value([2.0, 2.0])) == (1.0, 1.0, 0.0)
    # By Holm's rule, the smallest of three must be below 0.05 / 3, the next below 0.05 / 2.
    assert count_surviving([0.2, 0.016, 0.024]) == 2
    assert count_surviving([0.2, 0.017, 0.024]) == 0
    assert count_surviving([0.016, 0.04, 0.03]) == 1
    assert count_surviving([]) == 0


def test_no_loss_holds_only_if_the_interval_is_above_the_margin():
    assert verdict_not_worse([0.1, -0.1, 0.0], 0.5) == "holds"
    assert verdict_not_worse([3.0, 3.1, 2.9], 0.5) == "holds"
    assert verdict_not_worse([-3.0, -3.1, -2.9], 0.5) == "does not"
    assert verdict_not_worse([-0.5, -0.6, -0.4], 0.5) == "not decided"
    assert verdict_not_worse([0.0], 0.5) == "not decided"


def test_parts_of_the_text_share_no_sentence():
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


def test_the_test_text_is_kept_out_of_training(tmp_path):
    pairs = tuple((f"the word {c} is here", f"das Wort {c} ist da") for c in ascii_lowercase)
    other, config = (("the other one", "das andere"),), TextConfig(vocab_size=300)

    def count(valid, test):
        data, _ = Bitext("text", pairs, valid, test, ("en", "de")).prepare(tmp_path, config)
        return len(PreparedData.open(data).train)

    assert count(other, other) == 26
    assert count(pairs[:5], other) == count(other, pairs[:5]) == 21
    assert count(pairs[:5], pairs[3:9]) == 17


def set_to_zero(model):
    for parameter in model.parameters():
        parameter.data.zero_()


def test_a_trial_is_reused_unless_settings_text_seed_or_change_differ(tmp_path, monkeypatch):
    shown = []
    work = Study(tmp_path, "toy", show=shown.append)
    [first] = work.run_trials([PlannedTrial("one", work.base)])
    assert first.steps == 3
    assert [step for step, _ in first.loss] == [1, 2, 3]
    assert first.seconds > 0
    # For an untrained model each subword of the vocabulary is about as likely.
    assert 50 < first.scores["perplexity"] < 2000
    model = first.translator().model
    assert model.config.d_model == first.config.model.d_model == 64
    assert first.parameters == sum(p.numel() for p in model.parameters())
    assert first.translator().translate("two") is not None

    def refuse(place):
        raise AssertionError(f"{place} trained again")

    with monkeypatch.context() as patch:
        patch.setattr("headway.ext.paper.running.study.run_trial", refuse)
        assert Study(tmp_path, "toy").run_trials([PlannedTrial("by another name", work.base)]) == [
            first
        ]
        for other in (
            PlannedTrial("seed", work.base, seed=2),
            PlannedTrial("text", work.base, work.corpus.only("short", lambda s, t: len(s) < 12)),
            PlannedTrial("change", work.base, change=set_to_zero),
            PlannedTrial(
                "rate", replace(work.base, training=replace(work.base.training, rate_scale=2.0))
            ),
        ):
            with pytest.raises(AssertionError, match="again"):
                work.run_trials([other])
    assert len(shown) == 1
    # A network of zeros learns only biases, so that subwords stay about as likely.
    [zeros] = work.run_trials([PlannedTrial("zeros", work.base, change=set_to_zero)])
    assert zeros.scores["perplexity"] > first.scores["perplexity"] / 2


def test_a_trial_in_a_worker_is_the_same_as_in_this_process(trained, tmp_path, monkeypatch):
    monkeypatch.setattr("headway.ext.paper.running.study.run_together", run_together)
    work = Study(tmp_path, "toy", processes=2)
    planned = [PlannedTrial("x", work.published_base)] * 2  # equal ones are trained once
    assert [trial.scores for trial in work.run_trials(planned)] == [trained.scores] * 2


def halve_and_remove_mask(model):
    for parameter in model.parameters():
        parameter.data.mul_(0.5)
    remove_mask(model)


def test_an_interrupted_trial_begins_again(tmp_path, monkeypatch):
    gradient = Trainer._gradient
    plan = PlannedTrial("base", Study(tmp_path, "toy").published_base, change=halve_and_remove_mask)
    [whole] = Study(tmp_path / "whole", "toy").run_trials([plan])

    def stop_in_three(trainer, data):
        if trainer.steps == 3:
            raise KeyboardInterrupt
        return gradient(trainer, data)

    work = Study(tmp_path / "stopped", "toy")
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_gradient", stop_in_three)
        with pytest.raises(KeyboardInterrupt):
            work.run_trials([plan])
    assert [*tmp_path.glob("stopped/trials/*/run/metrics.jsonl")]
    [again] = work.run_trials([plan])
    assert (again.loss, again.scores) == (whole.loss, whole.scores)
    weights = whole.translator().model.state_dict()
    found = again.translator().model.state_dict()
    assert all(torch.equal(found[key], weight) for key, weight in weights.items())
    assert not [*tmp_path.glob("*/trials/*/run")]


@pytest.mark.usefixtures("copied_trainings")
def test_trainings_of_other_machines_count_if_they_are_the_same(tmp_path, monkeypatch):
    """Another device and other libraries are another machine; other settings are another training."""
    other = Study(tmp_path / "gpu", "toy", seeds=(1, 2))
    plans = [PlannedTrial(name, replace(other.base, model=replace(other.base.model, norm=name))) for name in ("pre", "post")]  # fmt: skip
    groups = other.run_groups(plans)
    monkeypatch.setattr(
        "headway.ext.paper.running.planned_trial.library_versions", lambda: ["another"]
    )

    def refuse(place):
        raise AssertionError(f"{place} trained again")

    monkeypatch.setattr("headway.ext.paper.running.study.run_trial", refuse)
    here = Study(tmp_path / "here", "toy", seeds=(1, 2), others=[other.directory])
    assert here.run_groups(plans) == groups
    assert len(list_trainings(here).rows) == 4
    assert not [*tmp_path.glob("here/trials/*")]
    alone = Study(tmp_path / "here", "toy", seeds=(1, 2))
    longer = replace(plans[0], config=replace(plans[0].config, training=replace(other.base.training, max_steps=4)))  # fmt: skip
    for study, plan, seed in ((alone, plans[0], 1), (here, longer, 1), (here, plans[0], 3)):
        with pytest.raises(AssertionError, match="again"):
            study.run_trials([replace(plan, seed=seed)])
