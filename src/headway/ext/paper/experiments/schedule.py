"""Section 5.3: the learning rate as the paper writes it, and its warm-up varied."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

from headway.config import Config
from headway.ext.paper.charts import curves
from headway.ext.paper.results import Claim, Figure, Finding, Findings, Table, collect
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.work import Study
from headway.ext.paper.verdicts import (
    interval_text,
    percent_text,
    perplexity_text,
    shown,
    verdict_needed,
)
from headway.training import learning_rate

TITLE = "The learning rate and its warm-up"
SECTION = "5.3"
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

    def of(self, base: Config) -> Config:
        """Return the base with this warm-up."""
        training = base.training
        scale = training.rate_scale
        if self.decay == "none":  # equation 3's peak is as the inverse square root of the warm-up
            scale *= math.sqrt(self.steps / training.warmup_steps)
        changed = replace(training, warmup_steps=self.steps, rate_scale=scale, decay=self.decay)
        return replace(base, training=changed)


def run(work: Study) -> Findings:
    """Check and draw equation 3 for the paper's models, and train with several warm-ups."""
    base = work.published_base
    usual = WarmUp(base.training.warmup_steps)
    none, level, abrupt = WarmUp(1), WarmUp(usual.steps, "none"), WarmUp(1, "none")
    warm_ups = (usual, WarmUp(TWICE * usual.steps), none, level, abrupt)
    planned = [PlannedTrial(f"warm-up of {each}", each.of(base)) for each in warm_ups]
    if work.is_settings_only:
        return work.settings_only(planned, draw_rates(), *check_rates())
    counted: list[Finding] = [draw_rates(), *check_rates()]
    work.keep(*counted)
    groups = dict(zip(warm_ups, work.run_groups(planned).values(), strict=True))
    return collect(
        *counted,
        score_table(groups, base),
        draw_losses(groups),
        warmup_claim(usual, none, groups, work.least_bleu),
        warmup_claim(level, abrupt, groups, work.least_bleu),
        differs=f"The base's warm-up is {usual.steps:,} of {base.training.max_steps:,} steps here, the"
        " paper's 4,000 of 100,000, and it reports no other. By equation 3, a shorter warm-up has a higher"
        f" peak: that of a single step is {math.sqrt(usual.steps):.0f} times the base's. So two trainings go on"
        " at the base's peak instead, and differ in nothing but the warm-up. All are trained by Adam"
        + (
            "."
            if base.training.rate_scale == 1
            else f", with {base.training.rate_scale:g} times the rate."
        ),
        settings={"seeds": list(work.seeds), "text": work.corpus.name},
    )


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


def warmup_claim(
    longer: WarmUp, none: WarmUp, groups: Mapping[WarmUp, TrialGroup], least_bleu: float
) -> Claim:
    """Return the claim that models do not learn with a warm-up of a single step."""
    with_it, without = groups[longer].bleu, groups[none].bleu
    return Claim(
        f"A warm-up is needed: models learn with {longer}, and not with {none}",
        "",
        f"{percent_text(with_it, 1)} BLEU with it, {percent_text(without, 1)} without",
        verdict_needed(with_it, without, least_bleu),
        f"a model has learned if it has at least {least_bleu:.0f} BLEU",
    )


def score_table(groups: Mapping[WarmUp, TrialGroup], base: Config) -> Table:
    """Return the scores of each warm-up."""
    rows = []
    for warm_up, group in groups.items():
        scale = warm_up.of(base).training.rate_scale
        width, steps = base.model.d_model, warm_up.steps
        peak = learning_rate(steps, d_model=width, warmup_steps=steps, scale=scale)
        rows.append(
            (
                str(warm_up),
                peak,
                percent_text(group.bleu, 1),
                perplexity_text(group.perplexity),
                interval_text(group.final_loss, 3, least=0),
            )
        )
    columns = ("warm-up", "highest rate", "BLEU", "perplexity",
               "training loss at the end, nats")  # fmt: skip
    return Table("Warm-up varied: mean and 95 % interval over the seeds", columns, tuple(rows))


def draw_losses(groups: Mapping[WarmUp, TrialGroup]) -> Figure:
    """Draw the training loss of each warm-up, the mean of its seeds."""
    return curves(
        "Training loss without smoothing, mean of the seeds",
        {
            f"warm-up of {warm_up}": [
                (points[0][0], sum(loss for _, loss in points) / len(points))
                for points in zip(*(trial.loss for trial in group.trials), strict=True)
            ]
            for warm_up, group in groups.items()
        },
        "step",
        "nats a target subword",
    )
