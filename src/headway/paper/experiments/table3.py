"""Table 3: every row as configuration, its parameters, and the same ablations trained at another size."""

import math
from collections.abc import Mapping, Sequence

from headway.config import Config
from headway.paper import charts
from headway.paper.measuring.parameters import parameter_tables
from headway.paper.published import TABLE3, Row
from headway.paper.results import Claim, Result, Table, say, verdict, verdict_equal
from headway.paper.running.rows import GROUPS, configure, rows_of
from headway.paper.running.trial import Trial
from headway.paper.running.work import Job, Work

TITLE = "Table 3: what each part of the model is worth"
SECTION = "6.2"
MARGIN = 0.5  # BLEU: "nearly identical" in the paper is a difference of 0.1
NO_TREND = 0.15  # smaller differences of the paper's own are no trend to be held to
Values = Sequence[float]


def run(work: Work) -> Result:
    """Count all rows, and train those that are asked for, unless the scale is the paper's."""
    tables, claims = parameter_tables()
    if work.scale == "paper":
        jobs = [Job(row.label, configure(Config(), row)) for row in rows_of(work.rows or GROUPS)]
        tables.append(work.write_settings(jobs))
        differs = "Nothing is trained at this size: the settings are written, with their commands."
        return Result("table3", TITLE, SECTION, tuple(tables), (), tuple(claims), differs)
    groups = trained_groups(work)
    rows = rows_of(groups)
    trials = work.by_seed(jobs_of(work, rows))
    tables += [score_table(trials), difference_table(trials, work)]
    claims += trends(trials, work)
    bleu = [(row.label, deltas(trials, row)[0]) for row in rows[1:]]
    nats = [(row.label, deltas(trials, row)[1]) for row in rows[1:]]
    figures = (
        charts.intervals(
            "BLEU of each row less that of the base with the same seed; hollow squares: the paper's",
            bleu, "BLEU less the base's", paper={r.label: r.bleu - TABLE3[0].bleu for r in rows[1:]},
        ),
        charts.intervals(
            "Logarithm of each row's perplexity less the base's; hollow squares: the paper's",
            nats, "nats a subword less the base's; negative is better",
            paper={r.label: math.log(r.perplexity / TABLE3[0].perplexity) for r in rows[1:]},
        ),
    )  # fmt: skip
    base = work.base
    differs = (
        f"The base row here has d_model {base.model.d_model}, d_ff {base.model.d_ff}, {base.model.num_heads}"
        f" heads and N = {base.model.num_encoder_layers}; every row changes it by the paper's factors (the"
        " dropout of big is the paper's own). It is trained on"
        f" {work.corpus.name} for {base.training.max_steps:,} steps of {base.training.batch_tokens:,}"
        " tokens, with steps that mix lengths, and scored by sacreBLEU on unseen pairs, not on"
        " newstest2013. Nothing is averaged, as in the paper; beam 4, alpha 0.6. The paper had one run"
        " a row and no intervals. Training ends early: a row that learns more slowly, being deeper or"
        " dropping more, is behind here, and need not be in the end."
    )
    if len(work.seeds) == 1:
        differs += " So has this table: a single seed decides nothing."
    missing = [name for name in GROUPS if name not in groups]
    if missing:
        differs += f" Not trained here: rows {', '.join(missing)}."
    settings = {
        "seeds": list(work.seeds), "training pairs": len(work.corpus.train), "rows": groups,
    }  # fmt: skip
    return Result(
        "table3", TITLE, SECTION, tuple(tables), figures, tuple(claims), differs, 0.0, settings
    )


def jobs_of(work: Work, rows: Sequence[Row]) -> list[Job]:
    """Return the trainings of rows."""
    return [Job(row.label, configure(work.base, row)) for row in rows]


def trained_groups(work: Work) -> list[str]:
    """Return the groups of rows that are asked for, and those that were trained before."""
    return [
        name
        for name in GROUPS
        if not work.rows or name in work.rows or work.done(jobs_of(work, rows_of([name])))
    ]


def score_table(trials: Mapping[str, Sequence[Trial]]) -> Table:
    """Show what every row came to, beside the paper's."""
    cells = []
    for row in there(trials):
        found = trials[row.label]
        cells.append(
            (
                row.label,
                say([t.perplexity for t in found]), row.perplexity,
                say([t.bleu for t in found], 1), row.bleu,
                found[0].parameters,
                round(sum(t.tokens_per_second for t in found) / len(found)),
                round(sum(t.seconds for t in found) / len(found), 1),
            )
        )  # fmt: skip
    columns = (
        "row", "perplexity", "paper", "BLEU", "paper", "parameters", "tokens / s", "seconds",
    )  # fmt: skip
    return Table(
        "The rows trained here: mean and 95 % interval over the seeds",
        columns, tuple(cells),
        "Perplexity of a subword without smoothing; the paper's is another vocabulary's and another text's."
        " Speed in target tokens a second of processor time.",
    )  # fmt: skip


def there(trials: Mapping[str, Sequence[Trial]]) -> list[Row]:
    """Return the rows that were trained."""
    return [row for row in TABLE3 if row.label in trials]


def deltas(trials: Mapping[str, Sequence[Trial]], row: Row) -> tuple[Values, Values]:
    """Return a row's differences to the base, seed by seed: BLEU, and log perplexity in nats."""
    pairs = list(zip(trials[row.label], trials["base"], strict=True))
    return (
        [a.bleu - b.bleu for a, b in pairs],
        [math.log(a.perplexity / b.perplexity) for a, b in pairs],
    )


def difference_table(trials: Mapping[str, Sequence[Trial]], work: Work) -> Table:
    """Show every row's difference to the base, and whether it goes the paper's way."""
    base, cells = TABLE3[0], []
    for row in there(trials)[1:]:
        bleu, nats = deltas(trials, row)
        theirs = row.bleu - base.bleu, math.log(row.perplexity / base.perplexity)
        judged = [
            work.sober(found, trials["base"], trials[row.label])
            for found in (_judge(bleu, theirs[0], MARGIN), _judge(nats, theirs[1] / 0.1, 0.05))
        ]
        cells.append(
            (
                row.label,
                say(bleu, 1, sign=True), round(theirs[0], 1), judged[0],
                say(nats, 3, sign=True), round(theirs[1], 3), judged[1],
            )
        )  # fmt: skip
    return Table(
        "Differences to the base with the same seed",
        ("row", "BLEU", "paper", "direction", "nats a subword", "paper", "direction"),
        tuple(cells),
        "The direction “holds” where the 95 % interval excludes zero on the paper's side. Where the paper"
        f" has less than {NO_TREND} BLEU or {NO_TREND / 10:.3f} nats, it holds where the interval lies"
        f" within {MARGIN} BLEU or 0.05 nats. Nothing is decided of a row that has hardly learned: less"
        f" than {work.learned:.0f} BLEU.",
    )


def _judge(differences: Values, theirs: float, margin: float) -> str:
    if abs(theirs) < NO_TREND:
        return verdict_equal(differences, margin)
    return verdict(differences, 1 if theirs > 0 else -1)


# What section 6.2 says in words: of which row, and by what: BLEU above or below the base's, or less
# perplexity.
SAID = (
    ("A single head is worse than the base's", "(A) h = 1", "worse"),
    ("Quality also drops with too many heads", "(A) h = 32", "worse"),
    ("Smaller attention keys hurt: a quarter", "(B) d_k = 16", "worse"),
    ("Smaller attention keys hurt: half", "(B) d_k = 32", "worse"),
    ("Bigger models are better: a third of the layers is worse", "(C) N = 2", "worse"),
    ("Bigger models are better: two thirds of the layers are worse", "(C) N = 4", "worse"),
    ("Bigger models are better: four thirds of the layers, by perplexity", "(C) N = 8", "surer"),
    ("Bigger models are better: half the width is worse", "(C) d_model = 256", "worse"),
    ("Bigger models are better: twice the width is better", "(C) d_model = 1024", "better"),
    ("Bigger models are better: half the d_ff is worse", "(C) d_ff = 1024", "worse"),
    ("Bigger models are better: twice the d_ff is better", "(C) d_ff = 4096", "better"),
    ("Dropout is very helpful: without it is worse", "(D) P_drop = 0.0", "worse"),
    ("Label smoothing helps BLEU: without it is worse", "(D) eps_ls = 0.0", "worse"),
    (f"Learned positions are nearly identical (within {MARGIN} BLEU)", "(E) learned positions", "equal"),
    ("Big, trained three times as long, is best", "big", "better"),
)  # fmt: skip


def trends(trials: Mapping[str, Sequence[Trial]], work: Work) -> list[Claim]:
    """Judge what section 6.2 says in words of the rows that were trained."""
    rows, base = {row.label: row for row in there(trials)}, TABLE3[0]
    claims = []
    for text, label, way in SAID:
        if label not in rows:
            continue
        row = rows[label]
        bleu, nats = deltas(trials, row)
        paper, ours = f"{row.bleu - base.bleu:+.1f} BLEU", f"{say(bleu, 1, sign=True)} BLEU"
        if way == "surer":
            paper = f"perplexity {row.perplexity:.2f} instead of {base.perplexity:.2f}"
            ours, found = f"{say(nats, 3, sign=True)} nats a subword", verdict(nats, -1)
        elif way == "equal":
            found = verdict_equal(bleu, MARGIN)
        else:
            found = verdict(bleu, 1 if way == "better" else -1)
        why = "each seed beside the base of the same seed" if len(bleu) > 1 else "a single seed"
        decided = work.sober(found, trials["base"], trials[label])
        claims.append(Claim(text, paper, ours, decided, why, "6.2, Table 3"))
    return claims
