"""Section 5.4: label smoothing makes a model less sure, worse in perplexity and better in BLEU."""

from collections.abc import Mapping
from dataclasses import replace

from headway.ext.paper.charts import intervals
from headway.ext.paper.results import Claim, Findings, Table, collect
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.work import Study
from headway.ext.paper.table3_rows import find_row
from headway.ext.paper.trends import Expected, LearnedScores, trend_claim
from headway.ext.paper.verdicts import percent_text, perplexity_text

TITLE = "Label smoothing varied"
SECTION = "5.4"
ROWS = {0.0: "eps_ls = 0.0", 0.1: "base", 0.2: "eps_ls = 0.2"}  # of Table 3


def run(work: Study) -> Findings:
    """Train with the epsilons of Table 3; nothing else differs."""
    planned = [
        PlannedTrial(
            f"eps_ls = {rate}",
            replace(work.base, training=replace(work.base.training, label_smoothing=rate)),
        )
        for rate in ROWS
    ]
    if work.is_settings_only:
        return work.settings_only(planned)
    groups = work.run_groups(planned)
    figure = intervals(
        "BLEU by label smoothing, 95 % intervals",
        [(name, group.bleu) for name, group in groups.items()],
        "BLEU",
        zero=False,
    )
    by_rate = dict(zip(ROWS, groups.values(), strict=True))
    return collect(
        score_table(by_rate),
        figure,
        *smoothing_claims(by_rate, work.least_bleu),
        differs="The models with Table 3's epsilons are its rows D. Perplexity and accuracy are of"
        " subwords of unseen pairs, each predicted from the right ones before it, without smoothing."
        " Smoothing spreads epsilon over the whole vocabulary, the right token included.",
        settings={"seeds": list(work.seeds), "text": work.corpus.name},
    )


def score_table(groups: Mapping[float, TrialGroup]) -> Table:
    """Return the scores of each epsilon beside the paper's."""
    return Table(
        "Label smoothing: mean and 95 % interval over the seeds",
        ("epsilon", "perplexity", "paper", "BLEU", "paper", "accuracy, %", "confidence, %"),
        tuple(
            (
                rate,
                perplexity_text(group.perplexity, 3), find_row(ROWS[rate]).perplexity,
                percent_text(group.bleu, 1), find_row(ROWS[rate]).bleu,
                percent_text([100 * share for share in group.values("accuracy")], 1),
                percent_text([100 * share for share in group.values("confidence")], 1),
            )
            for rate, group in groups.items()
        ),
        "Accuracy: how often the likeliest subword is the right one. Confidence: its mean probability.",
    )  # fmt: skip


def smoothing_claims(groups: Mapping[float, TrialGroup], least_bleu: float) -> list[Claim]:
    """Return what section 5.4 says of epsilon = 0.1 against none, each with its verdict."""
    base, none = (find_row(ROWS[rate]) for rate in (0.1, 0.0))
    perplexities = f"{base.perplexity} instead of {none.perplexity}"
    effects: tuple[tuple[str, str, float, Expected, str, str, int], ...] = (
        ("Label smoothing hurts perplexity", "perplexity", 1.0, "more", perplexities, "perplexity", 3),
        ("Label smoothing improves accuracy", "accuracy", 100.0, "more", "", "% of subwords", 2),
        ("Label smoothing improves BLEU", "bleu", 1.0, "more", f"{base.bleu - none.bleu:+.1f}", "BLEU", 1),
        ("With label smoothing the model learns to be more unsure", "confidence", 100.0, "less", "", "% of probability", 1),
    )  # fmt: skip
    return [
        trend_claim(
            text,
            paper,
            f"eps_ls = 0.1 less eps_ls = 0.0: {{}} {unit}",
            [scale * gap for gap in groups[0.1].less(groups[0.0], score)],
            expected=expected,
            digits=digits,
            learned=LearnedScores(least_bleu, (groups[0.1].bleu, groups[0.0].bleu)),
            why="paired by seed",
        )
        for text, score, scale, expected, paper, unit, digits in effects
    ]
