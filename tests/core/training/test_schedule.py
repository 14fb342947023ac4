import math
from dataclasses import replace

import pytest

from headway.cli.arguments import parse
from headway.cli.verbs import train as verb
from headway.config import PRESETS, Config, TrainingConfig, merge_overrides
from headway.training.steps.optimizers import learning_rate, warn_if_too_short


def test_the_learning_rate_is_equation_3():
    for step in (1, 7, 3999, 4000, 4001, 100000):
        expected = 512**-0.5 * min(1 / math.sqrt(step), step * 4000**-1.5)
        assert learning_rate(step, d_model=512, warmup_steps=4000) == pytest.approx(expected)
        scaled = learning_rate(step, d_model=512, warmup_steps=4000, scale=3.0)
        assert scaled == pytest.approx(3 * expected)


def test_the_learning_rate_cools_linearly_to_zero_after_the_last_step():
    def rate(step, cool_steps):
        return learning_rate(step, d_model=17, warmup_steps=7, cool_steps=cool_steps, max_steps=101)

    shares = [rate(step, 20) / rate(step, 0) for step in range(1, 103)]
    assert shares[:82] == [1.0] * 82  # steps 1 to 82
    assert shares[82:] == pytest.approx([share / 20 for share in range(19, -1, -1)])


def test_without_decay_the_learning_rate_stays_at_the_peak_until_it_cools():
    def rate(step, decay):
        return learning_rate(
            step, d_model=17, warmup_steps=7, decay=decay, cool_steps=20, max_steps=101
        )

    both = [[rate(step, decay) for step in range(1, 103)] for decay in ("inverse-sqrt", "none")]
    assert both[0][:7] == pytest.approx(both[1][:7])
    assert both[1][6:82] == pytest.approx([both[0][6]] * 76)
    assert both[1][82:] == pytest.approx([both[0][6] * share / 20 for share in range(19, -1, -1)])


def test_the_message_on_a_run_too_short_for_its_schedule_names_one_that_fits():
    assert not any(warn_if_too_short(preset.training) for preset in PRESETS.values())
    for settings in (
        {"max_steps": 60, "warmup_steps": 800, "cool_steps": 6000, "rate_scale": 1.28},
        {"max_steps": 1000, "warmup_steps": 4000},
        {"max_steps": 1, "warmup_steps": 2, "cool_steps": 3},
        {"max_steps": 123_456, "warmup_steps": 150_000, "cool_steps": 200_000},
    ):
        given = replace(Config(), training=TrainingConfig(**settings))
        words = warn_if_too_short(given.training).split(": ")[-1].split()
        overrides = parse("train", verb, ["run", *words]).overrides
        shorter = merge_overrides(given, overrides).training
        assert warn_if_too_short(shorter) == ""
        peaks = [c.rate_scale * c.warmup_steps**-0.5 for c in (shorter, given.training)]
        assert peaks[0] == pytest.approx(peaks[1], rel=0.01)
