"""Table 3: every row as settings, its parameters, and the same ablations trained at another scale."""

import math
from collections.abc import Mapping, Sequence

from headway.config import Config
from headway.ext.paper.charts import intervals
from headway.ext.paper.experiments.table3_parameters import compare_parameters
from headway.ext.paper.results import Finding, Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.table3_rows import CONTROLS, TABLE3, Table3Row, configure
from headway.ext.paper.verdicts import (
    interval_text,
    percent_text,
    perplexity_text,
)

ONE, MANY = (row.label for row in CONTROLS)
# Name of a training, and what it changes beside the base.
CHANGES = {
    "(A) h = 1": "an eighth of the heads, each 8 times as wide",
    ONE: "an eighth of the heads; they keep their width",
    "(A) h = 32": "4 times the heads, each a quarter as wide",
    MANY: "4 times the heads; they keep their width",
    "(B) d_k = 16": "as many heads; queries and keys a quarter as wide, values as before",
}


def count(work: Study) -> list[Finding]:
    """Count the parameters of all rows."""
    return compare_parameters()


def plan(work: Study) -> list[PlannedTrial]:
    """Return the trainings of all rows, and of the controls that the paper does not have."""
    return plan_rows(work.base, TABLE3 if work.is_settings_only else (*TABLE3, *CONTROLS))


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare each row with the base of the same seed."""
    rows = TABLE3[1:]
    return [
        score_table(groups),
        difference_table(groups),
        intervals(
            "BLEU of each row less that of the base with the same seed; hollow squares: the paper's",
            [(row.label, bleu_less(groups, row)) for row in rows],
            "BLEU less the base's",
            paper={row.label: row.bleu - TABLE3[0].bleu for row in rows},
        ),
        intervals(
            "Logarithm of each row's perplexity less the base's; hollow squares: the paper's",
            [(row.label, nats_less(groups, row)) for row in rows],
            "nats a subword less the base's; negative is better",
            paper={row.label: math.log(row.perplexity / TABLE3[0].perplexity) for row in rows},
        ),
        separate_heads(groups),
    ]


def plan_rows(base: Config, rows: Sequence[Table3Row]) -> list[PlannedTrial]:
    """Return the trainings of rows."""
    return [PlannedTrial(row.label, configure(base, row)) for row in rows]


def score_table(groups: Mapping[str, TrialGroup]) -> Table:
    """Return the scores of every row beside the paper's."""
    cells = []
    for row in TABLE3:
        group = groups[row.label]
        cells.append(
            (
                row.label, perplexity_text(group.perplexity), row.perplexity,
                percent_text(group.bleu, 1), row.bleu, group.parameters,
                round(group.tokens_per_second), round(group.seconds, 1),
            )
        )  # fmt: skip
    columns = (
        "row", "perplexity", "paper", "BLEU", "paper", "parameters", "tokens / s", "seconds",
    )  # fmt: skip
    note = ""
    if len(groups["base"].trials) == 1:
        note += (
            " This table has one run for each row, as the paper's: a single seed decides nothing."
        )
    return Table(
        "The rows trained here: mean and 95 % interval over the seeds",
        columns, tuple(cells),
        "Perplexity of a subword without smoothing; the paper's has another vocabulary and another text."
        f" Seconds and target tokens a second are of {groups['base'].time_name}.{note}",
    )  # fmt: skip


def bleu_less(groups: Mapping[str, TrialGroup], row: Table3Row) -> list[float]:
    """Return by how much a row's BLEU exceeds the base's, seed by seed."""
    return groups[row.label].less(groups["base"])


def nats_less(groups: Mapping[str, TrialGroup], row: Table3Row) -> list[float]:
    """Return by how much a row's log perplexity exceeds the base's, seed by seed, in nats."""
    return groups[row.label].nats_less(groups["base"])


def difference_table(groups: Mapping[str, TrialGroup]) -> Table:
    """Return every row's difference to the base beside the paper's."""
    base = TABLE3[0]
    return Table(
        "Differences to the base with the same seed",
        ("row", "BLEU", "paper", "nats a subword", "paper"),
        tuple(
            (
                row.label,
                interval_text(bleu_less(groups, row), 1, sign=True), round(row.bleu - base.bleu, 1),
                interval_text(nats_less(groups, row), 3, sign=True),
                round(math.log(row.perplexity / base.perplexity), 3),
            )
            for row in TABLE3[1:]
        ),
        "What the paper says of rows is among the claims.",
    )  # fmt: skip


def separate_heads(groups: Mapping[str, TrialGroup]) -> Table:
    """Return models with more heads, with wider heads, and with more heads of one width, beside the base.

    Args:
        groups: The trainings by the label of their row.
    """
    return Table(
        "Heads and their width, changed together and apart",
        ("training", "changes", "BLEU less the base's", "parameters"),
        tuple(
            (
                name, change, interval_text(groups[name].less(groups["base"]), 1, sign=True),
                groups[name].parameters,
            )
            for name, change in CHANGES.items()
        ),
        f"{ONE} and {MANY} are not in the paper; there h · d_k, and so the number of parameters, changes.",
    )  # fmt: skip
