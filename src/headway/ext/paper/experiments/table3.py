"""Table 3: every row as settings, its parameters, and the same ablations trained at another scale."""

import math
from collections.abc import Mapping, Sequence

from headway.config import Config
from headway.ext.paper.charts import intervals
from headway.ext.paper.experiments.table3_heads import separate_heads
from headway.ext.paper.experiments.table3_parameters import compare_parameters
from headway.ext.paper.results import Finding, Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.table3_rows import CONTROLS, GROUPS, TABLE3, Table3Row, configure, rows_of
from headway.ext.paper.trends import judge
from headway.ext.paper.verdicts import (
    Gate,
    LearnedScores,
    Verdict,
    interval_text,
    percent_text,
    perplexity_text,
)

NO_TREND = 0.15  # BLEU: a smaller difference in the paper is no trend to be tested
NO_TREND_NATS = 0.015


def count(work: Study) -> list[Finding]:
    """Count the parameters of all rows."""
    return compare_parameters()


def plan(work: Study) -> list[PlannedTrial]:
    """Return the trainings of the wanted rows."""
    names = trained_groups(work)
    rows = rows_of(names) if work.is_settings_only else add_controls(names)
    return plan_rows(work.base, rows)


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare each row with the base of the same seed."""
    rows = trained_rows(groups)
    apart = [separate_heads(groups)] if CONTROLS[0].label in groups else []
    return [
        score_table(groups),
        difference_table(groups, work.gate),
        intervals(
            "BLEU of each row less that of the base with the same seed; hollow squares: the paper's",
            [(row.label, bleu_less(groups, row)) for row in rows[1:]],
            "BLEU less the base's",
            paper={row.label: row.bleu - TABLE3[0].bleu for row in rows[1:]},
        ),
        intervals(
            "Logarithm of each row's perplexity less the base's; hollow squares: the paper's",
            [(row.label, nats_less(groups, row)) for row in rows[1:]],
            "nats a subword less the base's; negative is better",
            paper={row.label: math.log(row.perplexity / TABLE3[0].perplexity) for row in rows[1:]},
        ),
        *apart,
    ]


def plan_rows(base: Config, rows: Sequence[Table3Row]) -> list[PlannedTrial]:
    """Return the trainings of rows."""
    return [PlannedTrial(row.label, configure(base, row)) for row in rows]


def trained_groups(work: Study) -> list[str]:
    """Return the groups of rows that are wanted, and those that were trained before."""
    return [
        name
        for name in GROUPS
        if not work.rows
        or name in work.rows
        or (not work.is_settings_only and work.are_done(plan_rows(work.base, add_controls([name]))))
    ]


def add_controls(names: Sequence[str]) -> list[Table3Row]:
    """Return the base, the rows of some groups, and the controls that belong to them."""
    return rows_of(names) + [row for row in CONTROLS if row.group in names]


def trained_rows(groups: Mapping[str, TrialGroup]) -> list[Table3Row]:
    """Return the rows that were trained, the base first."""
    return [row for row in TABLE3 if row.label in groups]


def score_table(groups: Mapping[str, TrialGroup]) -> Table:
    """Return the scores of every row beside the paper's."""
    cells, rows = [], trained_rows(groups)
    for row in rows:
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
    trained = {row.group or row.name for row in rows}
    if missing := [name for name in GROUPS if name not in trained]:
        note += f" Not trained here: rows {', '.join(missing)}."
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


def difference_table(groups: Mapping[str, TrialGroup], gate: Gate) -> Table:
    """Return every row's difference to the base, and whether it has the paper's direction."""
    base, cells = TABLE3[0], []
    for row in trained_rows(groups)[1:]:
        bleu, nats = bleu_less(groups, row), nats_less(groups, row)
        paper_bleu, paper_nats = row.bleu - base.bleu, math.log(row.perplexity / base.perplexity)
        learned = LearnedScores(gate, (groups["base"].bleu, groups[row.label].bleu))
        cells.append(
            (
                row.label,
                interval_text(bleu, 1, sign=True), round(paper_bleu, 1),
                judge_direction(bleu, paper_bleu, NO_TREND, learned),
                interval_text(nats, 3, sign=True), round(paper_nats, 3),
                judge_direction(nats, paper_nats, NO_TREND_NATS, learned),
            )
        )  # fmt: skip
    tested = sum(cell[i] is not None for cell in cells for i in (3, 6))
    return Table(
        "Differences to the base with the same seed",
        ("row", "BLEU", "paper", "direction", "nats a subword", "paper", "direction"),
        tuple(cells),
        "The direction “holds” if the 95 % interval excludes zero on the paper's side. If the paper's"
        f" difference is less than {NO_TREND} BLEU or {NO_TREND_NATS} nats, there is no direction to be tested."
        f" Nothing is decided of a row that has hardly learned: less than {gate.least:g} BLEU. Of the"
        f" {tested} directions, about {0.05 * tested:.0f} would be decided by chance if no row had any effect.",
    )


def judge_direction(
    differences: Sequence[float], paper: float, least: float, learned: LearnedScores
) -> Verdict | None:
    """Judge whether differences have the sign of the paper's; None: the paper's is too small to be a trend."""
    if abs(paper) < least:
        return None
    return learned.judge(judge(differences, "more" if paper > 0 else "less"))[0]
