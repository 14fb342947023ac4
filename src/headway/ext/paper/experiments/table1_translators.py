"""The layer types of Table 1 as translators, trained alike on the same text (paper: section 4)."""

from dataclasses import replace

from headway.ext.paper.measuring.layer_types import LAYER_TYPES
from headway.ext.paper.results import Finding, Table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.work import Study
from headway.ext.paper.trends import LearnedScores, trend_claim

KERNEL, WINDOW = 3, 8


def plan_trials(work: Study) -> list[PlannedTrial]:
    """Return encoder-decoders that differ in what mixes positions, and in nothing else."""
    return [
        PlannedTrial(
            layer.name,
            replace(
                work.base,
                model=replace(
                    work.base.model,
                    encoder_mixer=layer.mixer_name,
                    decoder_mixer=layer.mixer_name,
                    window=WINDOW if layer.name == "restricted" else 0,
                    kernel_size=KERNEL,
                ),
            ),
        )
        for layer in LAYER_TYPES
    ]


def compare_translators(work: Study) -> list[Finding]:
    """Train all of them alike, or write their settings at the paper's scale."""
    if work.is_settings_only:
        return [work.write_settings(plan_trials(work))]
    groups = work.run_groups(plan_trials(work))
    table = Table(
        "Translators that differ only in their mixers",
        ("layer", "BLEU", "perplexity", "tokens/s", "parameters"),
        tuple(
            (name, *group.score_cells, round(group.tokens_per_second), group.parameters)
            for name, group in groups.items()
        ),
        f"{work.seeds_note} r = {WINDOW}, k = {KERNEL}. Encoder-decoder attention is the same in all.",
    )
    attention = groups["self-attention"]
    claims = []
    for name, group in groups.items():
        if group is attention:
            continue
        claims.append(
            trend_claim(
                f"Self-attention in place of {name} layers translates better.",
                "not compared",
                f"self-attention less {name}: {{}} BLEU",
                attention.less(group),
                learned=LearnedScores(work.least_bleu, (attention.bleu, group.bleu)),
                why="paired by seed; the paper compares only with published systems",
                section="4 and 6.1",
            )
        )
    return [table, *claims]
