"""The layer types of Table 1 as translators, trained alike on the same text (paper: section 4)."""

from collections.abc import Mapping
from dataclasses import replace

from headway.ext.paper.measuring.layer_types import LAYER_TYPES
from headway.ext.paper.results import Finding, Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.trends import compare

KERNEL, WINDOW = 3, 8
ATTENTION = "self-attention"


def plan(work: Study) -> list[PlannedTrial]:
    """Return encoder-decoders that differ in what mixes positions, and in nothing else."""
    base = work.base
    return [
        PlannedTrial(
            layer.name,
            replace(
                base,
                model=replace(
                    base.model,
                    encoder_mixer=layer.mixer_name,
                    decoder_mixer=layer.mixer_name,
                    window=WINDOW if layer.name == "restricted" else 0,
                    kernel_size=KERNEL,
                ),
            ),
        )
        for layer in LAYER_TYPES
    ]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare self-attention with each other type."""
    table = Table(
        "Translators that differ only in their mixers",
        ("layer", "BLEU", "perplexity", "tokens/s", "parameters"),
        tuple(
            (name, *group.score_cells, round(group.tokens_per_second), group.parameters)
            for name, group in groups.items()
        ),
        f"{work.seeds_note} r = {WINDOW}, k = {KERNEL}. Encoder-decoder attention is the same in all.",
    )
    claims = [
        compare(
            f"Self-attention in place of {name} layers translates better.",
            groups, ATTENTION, name, work.gate, paper="not compared",
            note="the paper compares only with published systems", section="4 and 6.1",
        )
        for name in groups
        if name != ATTENTION
    ]  # fmt: skip
    return [table, *claims]
