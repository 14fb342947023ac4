"""Table 3: every row as configuration, its parameters, and the same ablations trained at another size."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from headway.config import Config, ModelConfig
from headway.paper import charts
from headway.paper.facts import TABLE3, VOCABULARY, Row
from headway.paper.parameters import counted, fitting_rows, formula, one_vocabulary, with_rows
from headway.paper.results import Claim, Result, Table, say, verdict, verdict_equal
from headway.paper.trial import Trial
from headway.paper.work import Job, Work

TITLE = "Table 3: what each part of the model is worth"
SECTION = "6.2"
MARGIN = 0.5  # BLEU: "nearly identical" in the paper is a difference of 0.1
NO_TREND = 0.15  # smaller differences of the paper's own are no trend to be held to
Values = Sequence[float]


def run(work: Work) -> Result:
    """Count all rows; train them all, unless the scale is the paper's."""
    tables, claims = parameter_tables()
    if work.scale == "paper":
        jobs = [Job(row.label, configure(Config(), row)) for row in TABLE3]
        tables.append(work.write_settings(jobs))
        differs = "Nothing is trained at this size: the settings are written, with their commands."
        return Result("table3", TITLE, SECTION, tuple(tables), (), tuple(claims), differs)
    trials = work.by_seed([Job(row.label, configure(work.base, row)) for row in TABLE3])
    tables += [score_table(trials), difference_table(trials, work)]
    claims += [
        replace(claim, verdict=work.sober(claim.verdict, trials["base"]))
        for claim in trends(trials)
    ]
    bleu = [(row.label, deltas(trials, row)[0]) for row in TABLE3[1:]]
    nats = [(row.label, deltas(trials, row)[1]) for row in TABLE3[1:]]
    figures = (
        charts.intervals(
            "BLEU of each row less that of the base with the same seed; hollow squares: the paper's",
            bleu, "BLEU less the base's", paper={r.label: r.bleu - TABLE3[0].bleu for r in TABLE3[1:]},
        ),
        charts.intervals(
            "Logarithm of each row's perplexity less the base's; hollow squares: the paper's",
            nats, "nats a subword less the base's; negative is better",
            paper={r.label: math.log(r.perplexity / TABLE3[0].perplexity) for r in TABLE3[1:]},
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
        " a row and no intervals."
    )
    settings = {"seeds": list(work.seeds), "training pairs": len(work.corpus.train)}
    return Result(
        "table3", TITLE, SECTION, tuple(tables), figures, tuple(claims), differs, 0.0, settings
    )


def configure(base: Config, row: Row) -> Config:
    """Return a row's settings: exactly the paper's on the paper's base, by its factors on others."""
    ours, theirs = base.model, Config().model
    widths = dict(zip(("d_k", "d_v"), theirs.head_widths, strict=True))
    mine = dict(zip(("d_k", "d_v"), ours.head_widths, strict=True))
    model: dict[str, object] = {}
    for name, value in row.model.items():
        if isinstance(value, str) or (row.name == "big" and name == "dropout"):
            model[name] = value
        elif isinstance(value, float):
            model[name] = round(getattr(ours, name) * value / getattr(theirs, name), 6)
        else:
            was, scaled = widths.get(name) or getattr(theirs, name), mine.get(name)
            model[name] = max(1, round((scaled or getattr(ours, name)) * value / was))
    if "d_k" in row.model and "d_v" not in row.model:
        model["d_v"] = ours.head_widths[1]
    training: dict[str, object] = {}
    for name, value in row.training.items():
        factor = value / getattr(Config().training, name)
        training[name] = type(value)(round(getattr(base.training, name) * factor, 6))
        if name == "max_steps":
            training["cool_steps"] = round(base.training.cool_steps * factor)
    return replace(
        base,
        model=replace(ours, **model),  # type: ignore[arg-type]
        training=replace(base.training, **training),  # type: ignore[arg-type]
    )


def shapes() -> list[tuple[Row, ModelConfig]]:
    """Return the model of every row at the paper's size."""
    return [(row, configure(Config(), row).model) for row in TABLE3]


def parameter_tables() -> tuple[list[Table], list[Claim]]:
    """Count every row at the paper's size, and find the vocabulary its figures need."""
    rows, agree = shapes(), True
    others = [(row, shape) for row, shape in rows if row.name != "big"]
    span = one_vocabulary(others)
    big = fitting_rows(rows[-1][1], TABLE3[-1].millions or 0)
    middle = round(sum(span) / 2) if span else 0
    cells = []
    for row, shape in rows:
        plain = with_rows(shape, VOCABULARY["en-de"])
        agree &= formula(plain) == counted(plain)
        fit = fitting_rows(shape, row.millions) if row.millions is not None else None
        cells.append(
            (
                row.label,
                formula(plain) / 1e6,
                row.millions,
                f"{fit[0]:,.0f} to {fit[1]:,.0f}" if fit else None,
                formula(with_rows(shape, middle)) / 1e6 if middle else None,
                round(100 * plain.d_model * VOCABULARY["en-de"] / formula(plain), 1),
            )
        )
    table = Table(
        "Parameters at the paper's size, in millions",
        ("row", "37,000 pieces", "the paper", "vocabulary that gives the paper's", f"{middle:,} pieces",
         "the vocabulary's share at 37,000, %"),
        tuple(cells),
        "Counted on the built model and equal to the formula of section 3. The paper says “about 37,000”"
        " pieces and prints whole millions. Nothing here is tuned to them.",
    )  # fmt: skip
    claims = [
        Claim(
            "Every row's parameters are those of the formula of section 3",
            "19 rows and big", f"{len(rows)} rows counted", "shown" if agree else "does not",
            "counted on the model as built", "6.2, Table 3",
        ),
        Claim(
            "One vocabulary explains the printed parameters of all rows but big",
            "about 37,000 pieces",
            f"{span[0]:,.0f} to {span[1]:,.0f} embedding rows" if span else "none",
            "shown" if span else "does not",
            "where the spans of all rows overlap", "6.2, Table 3",
        ),
        Claim(
            "Big needs a smaller vocabulary than the others",
            "213 million", f"{big[0]:,.0f} to {big[1]:,.0f} embedding rows",
            "shown" if span and big[1] < span[0] else "does not",
            "with the others' vocabulary it would have"
            f" {formula(with_rows(rows[-1][1], middle)) / 1e6:.1f} million", "6.2, Table 3",
        ),
    ]  # fmt: skip
    return [table], claims


def score_table(trials: Mapping[str, Sequence[Trial]]) -> Table:
    """Show what every row came to, beside the paper's."""
    cells = []
    for row in TABLE3:
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


def deltas(trials: Mapping[str, Sequence[Trial]], row: Row) -> tuple[Values, Values]:
    """Return a row's differences to the base, seed by seed: BLEU, and log perplexity in nats."""
    pairs = list(zip(trials[row.label], trials["base"], strict=True))
    return (
        [a.bleu - b.bleu for a, b in pairs],
        [math.log(a.perplexity / b.perplexity) for a, b in pairs],
    )


def difference_table(trials: Mapping[str, Sequence[Trial]], work: Work) -> Table:
    """Show every row's difference to the base, and whether it goes the paper's way."""
    base, learned, cells = TABLE3[0], trials["base"], []
    for row in TABLE3[1:]:
        bleu, nats = deltas(trials, row)
        theirs = row.bleu - base.bleu, math.log(row.perplexity / base.perplexity)
        cells.append(
            (
                row.label,
                say(bleu, 1, sign=True), round(theirs[0], 1), work.sober(_judge(bleu, theirs[0], MARGIN), learned),
                say(nats, 3, sign=True), round(theirs[1], 3), work.sober(_judge(nats, theirs[1] / 0.1, 0.05), learned),
            )
        )  # fmt: skip
    return Table(
        "Differences to the base with the same seed",
        ("row", "BLEU", "paper", "direction", "nats a subword", "paper", "direction"),
        tuple(cells),
        "The direction “holds” where the 95 % interval excludes zero on the paper's side. Where the paper"
        f" has less than {NO_TREND} BLEU or {NO_TREND / 10:.3f} nats, it holds where the interval lies"
        f" within {MARGIN} BLEU or 0.05 nats.",
    )


def _judge(differences: Values, theirs: float, margin: float) -> str:
    if abs(theirs) < NO_TREND:
        return verdict_equal(differences, margin)
    return verdict(differences, 1 if theirs > 0 else -1)


def trends(trials: Mapping[str, Sequence[Trial]]) -> list[Claim]:
    """Judge what section 6.2 says in words."""
    row = {r.label: r for r in TABLE3}
    base = TABLE3[0]

    def worse(text: str, label: str, sign: int = -1) -> Claim:
        bleu, _ = deltas(trials, row[label])
        theirs = row[label].bleu - base.bleu
        return _claim(text, f"{theirs:+.1f} BLEU", bleu, verdict(bleu, sign))

    def perplexity(text: str, label: str) -> Claim:
        _, nats = deltas(trials, row[label])
        theirs = f"{row[label].perplexity:.2f} instead of {base.perplexity:.2f}"
        claim = _claim(text, f"perplexity {theirs}", nats, verdict(nats, -1))
        return replace(claim, ours=f"{say(nats, 3, sign=True)} nats a subword")

    equal, _ = deltas(trials, row["(E) learned positions"])
    return [
        worse("A single head is worse than the base's", "(A) h = 1"),
        worse("Quality also drops with too many heads", "(A) h = 32"),
        worse("Smaller attention keys hurt: a quarter", "(B) d_k = 16"),
        worse("Smaller attention keys hurt: half", "(B) d_k = 32"),
        worse("Bigger models are better: a third of the layers is worse", "(C) N = 2"),
        worse("Bigger models are better: two thirds of the layers are worse", "(C) N = 4"),
        perplexity("Bigger models are better: four thirds of the layers, by perplexity", "(C) N = 8"),
        worse("Bigger models are better: half the width is worse", "(C) d_model = 256"),
        worse("Bigger models are better: twice the width is better", "(C) d_model = 1024", 1),
        worse("Bigger models are better: half the d_ff is worse", "(C) d_ff = 1024"),
        worse("Bigger models are better: twice the d_ff is better", "(C) d_ff = 4096", 1),
        worse("Dropout is very helpful: without it is worse", "(D) P_drop = 0.0"),
        worse("Label smoothing helps BLEU: without it is worse", "(D) eps_ls = 0.0"),
        _claim(
            f"Learned positions are nearly identical (within {MARGIN} BLEU)", "-0.1 BLEU", equal,
            verdict_equal(equal, MARGIN),
        ),
        worse("Big, trained three times as long, is best", "big", 1),
    ]  # fmt: skip


def _claim(text: str, paper: str, bleu: Values, found: str) -> Claim:
    why = f"{len(bleu)} seeds, each beside the base of the same seed"
    return Claim(text, paper, f"{say(bleu, 1, sign=True)} BLEU", found, why, "6.2, Table 3")
