"""Section 5.3: the learning rate as the paper writes it, and its warm-up varied."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

from headway.config import Config
from headway.ext.paper.charts import curves
from headway.ext.paper.results import Claim, Figure, Finding
from headway.ext.paper.running.group import TrialGroup, score_table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.trends import need_claim
from headway.ext.paper.verdicts import shown
from headway.training import learning_rate

TWICE = 2  # a longer warm-up, as a multiple of the base's


class WarmUp(NamedTuple):
    """A warm-up that is trained.

    Attributes:
        steps: Its length.
        decay: How the rate goes on: by equation 3 ("inverse-sqrt"), or at the base's peak ("none").
    """

    steps: int
    decay: Literal["inverse-sqrt", "none"] = "inverse-sqrt"

    def __str__(self) -> str:
        length = f"{self.steps:,} {'step' if self.steps == 1 else 'steps'}"
        after = "equation 3" if self.decay == "inverse-sqrt" else "then the base's peak"
        return f"{length}, {after}"

    @property
    def name(self) -> str:
        """The name of its training."""
        return f"warm-up of {self}"

    def of(self, base: Config) -> Config:
        """Return the base with this warm-up."""
        training = base.training
        scale = training.rate_scale
        if self.decay == "none":  # equation 3's peak is as the inverse square root of the warm-up
            scale *= math.sqrt(self.steps / training.warmup_steps)
        changed = replace(training, warmup_steps=self.steps, rate_scale=scale, decay=self.decay)
        return replace(base, training=changed)


def list_warm_ups(work: Study) -> tuple[WarmUp, ...]:
    """Return the base's warm-up, a longer one, and none; and by a rate that stays, the base's and none."""
    usual = work.published_base.training.warmup_steps
    steps = WarmUp(usual), WarmUp(TWICE * usual), WarmUp(1)
    return (*steps, WarmUp(usual, "none"), WarmUp(1, "none"))


def count(work: Study) -> list[Finding]:
    """Check and draw equation 3 for the paper's models."""
    return [draw_rates(), *check_rates()]


def plan(work: Study) -> list[PlannedTrial]:
    """Return trainings with several warm-ups."""
    return [PlannedTrial(each.name, each.of(work.published_base)) for each in list_warm_ups(work)]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Judge whether models learn with a warm-up of a single step."""
    usual, _, none, level, abrupt = list_warm_ups(work)
    claims = [
        need_claim(
            f"A warm-up is needed: models learn with {longer}, and not with {single}",
            groups[longer.name], groups[single.name], work.gate,
        )
        for longer, single in ((usual, none), (level, abrupt))
    ]  # fmt: skip
    peaks = [
        f"{each}: {highest_rate(each.of(work.published_base)):.2e}" for each in list_warm_ups(work)
    ]
    table = score_table(
        "Warm-up varied: mean and 95 % interval over the seeds",
        "training", ("BLEU", "perplexity", "last training loss, nats"), groups,
        f"Highest rates: {'; '.join(peaks)}.",
    )  # fmt: skip
    return [table, draw_losses(groups), *claims]


def highest_rate(config: Config) -> float:
    """Return the learning rate at the end of the warm-up."""
    steps = config.training.warmup_steps
    width, scale = config.model.d_model, config.training.rate_scale
    return learning_rate(steps, d_model=width, warmup_steps=steps, scale=scale)


def draw_rates() -> Figure:
    """Draw equation 3 for three pairs of width and warm-up."""
    count, last = 160, 100_000
    steps = sorted({round(last ** (i / (count - 1))) for i in range(count)})
    return curves(
        "Equation 3's learning rate over the paper's 100,000 steps (logarithmic)",
        {
            f"d_model {d}, warm-up {w:,}": [
                (s, learning_rate(s, d_model=d, warmup_steps=w)) for s in steps
            ]
            for d, w in ((512, 4000), (512, 8000), (1024, 4000))
        },
        "step",
        "learning rate",
        log_x=True,
        log_y=True,
    )


def check_rates() -> list[Claim]:
    """Compare the package's rate with equation 3 as the paper writes it, step by step."""
    base = Config()
    d, warmup = base.model.d_model, base.training.warmup_steps
    rates = [learning_rate(s, d_model=d, warmup_steps=warmup) for s in range(1, 3 * warmup)]
    error = max(
        abs(rate / (min(s**-0.5, s * warmup**-1.5) / math.sqrt(d)) - 1)
        for s, rate in enumerate(rates, 1)
    )
    highest = rates.index(max(rates)) + 1
    rise = max(abs(rates[s - 1] / rates[0] / s - 1) for s in range(1, warmup + 1))
    fall = max(
        abs(rates[s - 1] * (s / warmup) ** 0.5 / rates[warmup - 1] - 1)
        for s in range(warmup, 3 * warmup)
    )
    return [
        Claim(
            "The rate of every step is equation 3's",
            "d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)", f"relative difference {error:.0e}",
            shown(error < 1e-12), "the first 12,000 steps of base",
        ),
        Claim(
            "It rises linearly for the warm-up, then falls as the step's inverse square root",
            "4,000 steps", f"highest at step {highest:,}: {max(rates):.2e}",
            shown(highest == warmup and max(rise, fall) < 1e-12),
            f"the peak is (512 · 4,000)^-0.5 = {(d * warmup) ** -0.5:.2e}",
        ),
    ]  # fmt: skip


def draw_losses(groups: Mapping[str, TrialGroup]) -> Figure:
    """Draw the training loss of each warm-up, the mean of its seeds."""
    return curves(
        "Training loss without smoothing, mean of the seeds",
        {
            name: [
                (points[0][0], sum(loss for _, loss in points) / len(points))
                for points in zip(*(trial.loss for trial in group.trials), strict=True)
            ]
            for name, group in groups.items()
        },
        "step",
        "nats a target subword",
    )
