"""Section 5.3: the learning rate drawn, found again in a run's log, and its warm-up varied."""

import math
from collections.abc import Sequence
from dataclasses import replace

from headway.config import Config
from headway.paper import charts
from headway.paper.results import Claim, Figure, Result, Table, say, verdict
from headway.paper.running.trial import Trial
from headway.paper.running.work import Job, Work
from headway.training.schedule import learning_rate

TITLE = "The learning rate and its warm-up"
SECTION = "5.3"
FACTORS = (0.0, 1.0, 2.0)  # of the base's warm-up; 0: a single step


def run(work: Work) -> Result:
    """Draw equation 3 for the paper's models, and train with several lengths of warm-up."""
    drawn = charts.curves(
        "Equation 3's learning rate over the paper's 100,000 steps (logarithmic)",
        {
            f"d_model {d}, warm-up {w:,}": [
                (s, learning_rate(s, d_model=d, warmup_steps=w)) for s in spread(100_000)
            ]
            for d, w in ((512, 4000), (512, 8000), (1024, 4000))
        },
        "step",
        "learning rate",
        log_x=True,
        log_y=True,
    )
    claims = shape_claims()
    warm = work.base.training.warmup_steps
    lengths = [max(1, round(factor * warm)) for factor in FACTORS]
    jobs = [
        Job(
            f"warm-up of {length:,} steps",
            replace(work.base, training=replace(work.base.training, warmup_steps=length)),
        )
        for length in lengths
    ]
    if work.scale == "paper":
        table = work.write_settings(jobs)
        differs = "Nothing is trained at this size: the settings are written, with their commands."
        return Result(
            "schedule", TITLE, SECTION, (table,), (drawn,), tuple(claims), differs
        )  # fmt: skip
    trials = dict(zip(lengths, work.by_seed(jobs).values(), strict=True))
    claim = warm_up_claim(trials[lengths[1]], trials[lengths[0]])
    claims.append(replace(claim, verdict=work.sober(claim.verdict, trials[lengths[1]])))
    differs = (
        f"The base's warm-up is {warm:,} of {work.base.training.max_steps:,} steps here, the paper's"
        " 4,000 of 100,000. A shorter warm-up also has a higher peak, as equation 3 wants it. The paper"
        " reports no other warm-up than 4,000."
    )
    settings = {"seeds": list(work.seeds), "text": work.corpus.name}
    return Result(
        "schedule", TITLE, SECTION, (score_table(trials, work.base),), (drawn, loss_figure(trials)),
        tuple(claims), differs, 0.0, settings,
    )  # fmt: skip


def spread(last: int, count: int = 160) -> list[int]:
    """Return steps from 1 to the last, equally far apart in their logarithms."""
    return sorted({round(last ** (i / (count - 1))) for i in range(count)})


def shape_claims() -> list[Claim]:
    """Compare the package's rate with equation 3 as the paper writes it, step by step."""
    base = Config()
    d, warm = base.model.d_model, base.training.warmup_steps
    rates = [learning_rate(s, d_model=d, warmup_steps=warm) for s in range(1, 3 * warm)]
    error = max(
        abs(rate / (min(s**-0.5, s * warm**-1.5) / math.sqrt(d)) - 1)
        for s, rate in enumerate(rates, 1)
    )
    highest = rates.index(max(rates)) + 1
    rise = max(abs(rates[s - 1] / rates[0] / s - 1) for s in range(1, warm + 1))
    fall = max(
        abs(rates[s - 1] * (s / warm) ** 0.5 / rates[warm - 1] - 1) for s in range(warm, 3 * warm)
    )
    return [
        Claim(
            "The rate of every step is equation 3's",
            "d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)", f"relative difference {error:.0e}",
            "shown" if error < 1e-12 else "does not", "the first 12,000 steps of base", "5.3",
        ),
        Claim(
            "It rises linearly for the warm-up, then falls as the step's inverse square root",
            "4,000 steps", f"highest at step {highest:,}: {max(rates):.2e}",
            "shown" if highest == warm and max(rise, fall) < 1e-12 else "does not",
            f"the peak is (512 · 4,000)^-0.5 = {(d * warm) ** -0.5:.2e}", "5.3",
        ),
    ]  # fmt: skip


def warm_up_claim(with_it: Sequence[Trial], without: Sequence[Trial]) -> Claim:
    """Judge whether the warm-up helps at all."""
    bleu = [a.bleu - b.bleu for a, b in zip(with_it, without, strict=True)]
    return Claim(
        "A warm-up is needed: the base's is better than none", "",
        f"{say(bleu, 1, sign=True)} BLEU", verdict(bleu, 1), f"{len(bleu)} seeds, paired", "5.3",
    )  # fmt: skip


def score_table(trials: dict[int, list[Trial]], base: Config) -> Table:
    """Show what each warm-up came to."""
    rows = []
    for length, found in trials.items():
        peak = learning_rate(
            length, d_model=base.model.d_model, warmup_steps=length, scale=base.training.rate_scale
        )
        rows.append(
            (
                length,
                peak,
                say([t.bleu for t in found], 1),
                say([t.perplexity for t in found]),
                say([t.loss[-1][1] for t in found], 3),
            )
        )
    return Table(
        "Warm-up varied: mean and 95 % interval over the seeds",
        (
            "steps of warm-up",
            "highest rate",
            "BLEU",
            "perplexity",
            "training loss at the end, nats",
        ),
        tuple(rows),
    )


def loss_figure(trials: dict[int, list[Trial]]) -> Figure:
    """Draw the training loss of each warm-up, the mean of its seeds."""
    series = {}
    for length, found in trials.items():
        curves = [trial.loss for trial in found]
        series[f"warm-up of {length:,}"] = [
            (points[0][0], sum(loss for _, loss in points) / len(points))
            for points in zip(*curves, strict=True)
        ]
    return charts.curves(
        "Training loss without smoothing, mean of the seeds",
        series,
        "step",
        "nats a target subword",
    )
