"""Section 5.4: label smoothing makes a model less sure, worse in perplexity and better in BLEU."""

from dataclasses import replace

from headway.paper import charts
from headway.paper.published import TABLE3
from headway.paper.results import Cell, Claim, Result, Table, say, verdict
from headway.paper.running.trial import Trial
from headway.paper.running.work import Job, Work

TITLE = "Label smoothing varied"
SECTION = "5.4"
RATES = (0.0, 0.1, 0.2)  # those of Table 3


def run(work: Work) -> Result:
    """Train with several epsilons; nothing else differs."""
    jobs = [
        Job(
            f"eps_ls = {rate}",
            replace(work.base, training=replace(work.base.training, label_smoothing=rate)),
        )
        for rate in RATES
    ]
    if work.scale == "paper":
        tables = (work.write_settings(jobs),)
        differs = "Nothing is trained at this size: the settings are written, with their commands."
        return Result("smoothing", TITLE, SECTION, tables, (), (), differs)
    trials = dict(zip(RATES, work.by_seed(jobs).values(), strict=True))
    figure = charts.intervals(
        "BLEU by label smoothing, 95 % intervals",
        [(f"eps_ls = {rate}", [t.bleu for t in row]) for rate, row in trials.items()],
        "BLEU",
        zero=False,
    )
    judged = [replace(c, verdict=work.sober(c.verdict, trials[0.1])) for c in claims(trials)]
    differs = (
        "The same models as in Table 3's rows D, where the epsilons are the same. Perplexity and accuracy"
        " are of subwords of unseen pairs, given the right ones before, without smoothing. Smoothing"
        " spreads epsilon over the whole vocabulary, the right token included."
    )
    settings = {"seeds": list(work.seeds), "text": work.corpus.name}
    return Result(
        "smoothing", TITLE, SECTION, (table(trials),), (figure,), tuple(judged), differs, 0.0,
        settings,
    )  # fmt: skip


def table(trials: dict[float, list[Trial]]) -> Table:
    """Show what every epsilon came to."""
    paper = {0.0: "(D) eps_ls = 0.0", 0.1: "base", 0.2: "(D) eps_ls = 0.2"}
    rows = {row.label: row for row in TABLE3}
    cells: list[tuple[Cell, ...]] = []
    for rate, found in trials.items():
        theirs = rows[paper[rate]] if rate in paper else None
        cells.append(
            (
                rate,
                say([t.perplexity for t in found], 3), theirs.perplexity if theirs else None,
                say([t.bleu for t in found], 1), theirs.bleu if theirs else None,
                say([100 * t.accuracy for t in found], 1),
                say([100 * t.confidence for t in found], 1),
            )
        )  # fmt: skip
    return Table(
        "Label smoothing: mean and 95 % interval over the seeds",
        ("epsilon", "perplexity", "paper", "BLEU", "paper", "accuracy, %", "confidence, %"),
        tuple(cells),
        "Accuracy: how often the likeliest subword is the right one. Confidence: its mean probability.",
    )


def claims(trials: dict[float, list[Trial]]) -> list[Claim]:
    """Judge what section 5.4 says of epsilon = 0.1 against none."""

    def differences(name: str, scale: float = 1.0) -> list[float]:
        pairs = zip(trials[0.1], trials[0.0], strict=True)
        return [scale * (getattr(a, name) - getattr(b, name)) for a, b in pairs]

    wanted = (
        ("It hurts perplexity", "perplexity", 1.0, 1, "4.92 instead of 4.67", "", 3),
        ("It improves accuracy", "accuracy", 100.0, 1, "", " % of subwords", 2),
        ("It improves BLEU", "bleu", 1.0, 1, "+0.5", " BLEU", 1),
        ("The model learns to be more unsure", "confidence", 100.0, -1, "", " % of probability", 1),
    )
    found = []
    for text, name, scale, sign, paper, unit, digits in wanted:
        values = differences(name, scale)
        found.append(
            Claim(
                text, paper, f"{say(values, digits, sign=True)}{unit}", verdict(values, sign),
                f"epsilon 0.1 less none, {len(values)} seeds, paired", "5.4",
            )
        )  # fmt: skip
    return found
