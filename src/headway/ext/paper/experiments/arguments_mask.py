"""What the decoder's mask is for: a translator trained without it (paper: sections 3.1 and 3.2.3)."""

from collections.abc import Mapping
from dataclasses import replace

from headway.ext.paper.results import Finding
from headway.ext.paper.running.group import TrialGroup, score_table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.running.unmasking import remove_mask
from headway.ext.paper.trends import need_claim, trend_claim
from headway.ext.paper.verdicts import LearnedScores

SECTION = "3.1 and 3.2.3"
MASKED, UNMASKED = "with the mask", "without"


def plan(work: Study) -> list[PlannedTrial]:
    """Return a training with and one without the mask; in translation later positions never exist.

    Dropout and label smoothing are off, because with them no loss falls to zero.
    """
    base = replace(
        work.base,
        model=replace(work.base.model, dropout=0.0),
        training=replace(work.base.training, label_smoothing=0.0),
    )
    return [PlannedTrial(MASKED, base), PlannedTrial(UNMASKED, base, change=remove_mask)]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare the losses and the translations of both."""
    masked, unmasked = groups[MASKED], groups[UNMASKED]
    table = score_table(
        "The decoder's mask",
        "training", ("last training loss, nats", "BLEU"), {MASKED: masked, UNMASKED: unmasked},
        f"Without dropout and label smoothing. {work.seeds_note}",
    )  # fmt: skip
    pairs = zip(unmasked.final_loss, masked.final_loss, strict=True)
    lower = trend_claim(
        "Without the mask the decoder sees the right token, and the training loss is lower.",
        "follows from the design",
        "without less with the mask: {} nats a subword",
        [without - with_mask for without, with_mask in pairs],
        expected="less",
        digits=3,
        learned=LearnedScores(work.gate, (masked.bleu,)),
        optimizer=masked.optimizer,
        why="paired by seed; the model with the mask knows most of its training text by heart too",
        section=SECTION,
    )
    needed = need_claim(
        "The mask is needed: a model trained without it does not learn to translate.",
        masked, unmasked, work.gate, paper="follows from the design", section=SECTION,
    )  # fmt: skip
    return [table, lower, needed]
