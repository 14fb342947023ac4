"""Section 5.4: label smoothing makes a model less sure, worse in perplexity and better in BLEU."""

from collections.abc import Mapping
from dataclasses import replace

from headway.ext.paper.results import Finding, Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.table3_rows import find_row
from headway.ext.paper.verdicts import percent_text, perplexity_text

ROWS = {
    "eps_ls = 0.0": "eps_ls = 0.0",
    "eps_ls = 0.1": "base",
    "eps_ls = 0.2": "eps_ls = 0.2",
}  # of Table 3


def plan(work: Study) -> list[PlannedTrial]:
    """Return trainings with the epsilons of Table 3; nothing else differs.

    The optimizer is Adam: Muon gives all updates of a matrix one size, and so changes how sure a model becomes.
    """
    base = work.published_base
    return [
        PlannedTrial(
            name, replace(base, training=replace(base.training, label_smoothing=float(name[-3:])))
        )
        for name in ROWS
    ]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Return the scores of each epsilon beside the paper's."""
    table = Table(
        "Label smoothing: mean and 95 % interval over the seeds",
        ("epsilon", "perplexity", "paper", "BLEU", "paper", "accuracy, %", "confidence, %"),
        tuple(
            (
                name.removeprefix("eps_ls = "),
                perplexity_text(group.perplexity, 3), find_row(ROWS[name]).perplexity,
                percent_text(group.bleu, 1), find_row(ROWS[name]).bleu,
                percent_text([100 * share for share in group.values("accuracy")], 1),
                percent_text([100 * share for share in group.values("confidence")], 1),
            )
            for name, group in groups.items()
        ),
        "Accuracy: how often the likeliest subword is the right one. Confidence: its mean probability.",
    )  # fmt: skip
    return [table]
