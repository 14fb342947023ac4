"""Section 5.3: the learning rate as the paper writes it, and its warm-up varied."""

import math
from collections.abc import Mapping
from dataclasses import replace

from headway.config import Config
from headway.paper.charts import curves
from headway.paper.results import Claim, Figure, Result, Table, collect
from headway.paper.running.plan import PlannedTrial
from headway.paper.running.trial import Group
from headway.paper.running.work import Work
from headway.paper.verdicts import if_learned, interval_text, shown, verdict
from headway.training.schedule import learning_rate

TITLE = "The learning rate and its warm-up"
SECTION = "5.3"
FACTORS = (0.0, 1.0, 2.0)  # of the base's warm-up; 0: a single step


def run(work: Work) -> Result:
    """Check and draw equation 3 for the paper's models, and train with several lengths of warm-up."""
    warmup = work.base.training.warmup_steps
    planned = {
        length: PlannedTrial(
            f"warm-up of {length:,} steps",
            replace(work.base, training=replace(work.base.training, warmup_steps=length)),
        )
        for length in (max(1, round(factor * warmup)) for factor in FACTORS)
    }
    if work.is_settings_only:
        return work.settings_only(list(planned.values()), draw_rates(), *check_rates())
    groups = dict(zip(planned, work.run_groups(list(planned.values())).values(), strict=True))
    return collect(
        score_table(groups, work.base),
        draw_rates(),
        draw_losses(groups),
        *check_rates(),
        warmup_claim(groups[warmup], groups[1], work.least_bleu),
        differs=f"The base's warm-up is {warmup:,} of {work.base.training.max_steps:,} steps here, the"
        " paper's 4,000 of 100,000. A shorter warm-up also has a higher peak, as equation 3 says."
        " The paper reports no other warm-up than 4,000.",
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


def warmup_claim(with_it: Group, without: Group, least_bleu: float) -> Claim:
    """Return the claim that the warm-up helps at all."""
    gains = with_it.less(without)
    return Claim(
        "A warm-up is needed: the base's is better than none",
        "",
        f"{interval_text(gains, 1, sign=True)} BLEU",
        if_learned(verdict(gains, 1), least_bleu, with_it.bleu, without.bleu),
        f"{len(gains)} seeds, paired; equation 3 without a warm-up also has a higher peak",
    )


def score_table(groups: Mapping[int, Group], base: Config) -> Table:
    """Return the scores of each length of warm-up."""
    rows = []
    for length, group in groups.items():
        peak = learning_rate(
            length, d_model=base.model.d_model, warmup_steps=length, scale=base.training.rate_scale
        )
        rows.append(
            (
                length,
                peak,
                interval_text(group.bleu, 1),
                interval_text(group.perplexity),
                interval_text(group.final_loss, 3),
            )
        )
    columns = ("steps of warm-up", "highest rate", "BLEU", "perplexity",
               "training loss at the end, nats")  # fmt: skip
    return Table("Warm-up varied: mean and 95 % interval over the seeds", columns, tuple(rows))


def draw_losses(groups: Mapping[int, Group]) -> Figure:
    """Draw the training loss of each warm-up, the mean of its seeds."""
    return curves(
        "Training loss without smoothing, mean of the seeds",
        {
            f"warm-up of {length:,}": [
                (points[0][0], sum(loss for _, loss in points) / len(points))
                for points in zip(*(trial.loss for trial in group.trials), strict=True)
            ]
            for length, group in groups.items()
        },
        "step",
        "nats a target subword",
    )
