"""The layer types of Table 1 as translators, trained alike on the same text (paper: section 4)."""

from collections.abc import Mapping
from dataclasses import replace

from headway.ext.paper.measuring.layer_types import LAYER_TYPES
from headway.ext.paper.results import Finding
from headway.ext.paper.running.group import TrialGroup, score_table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study

KERNEL, WINDOW = 3, 8


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
    """Return the scores of each type."""
    return [
        score_table(
            "Translators that differ only in their mixers",
            "layer", ("BLEU", "perplexity", "tokens/s", "parameters"), groups,
            f"{work.seeds_note} r = {WINDOW}, k = {KERNEL}. Encoder-decoder attention is the same in all.",
        )
    ]  # fmt: skip
