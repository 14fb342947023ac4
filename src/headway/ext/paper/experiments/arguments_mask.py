"""What the decoder's mask is for: a translator trained without it (paper: sections 3.1 and 3.2.3)."""

from dataclasses import replace

from headway.ext.paper.results import Claim, Table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.unmasking import remove_mask
from headway.ext.paper.running.work import Study
from headway.ext.paper.trends import LearnedScores, trend_claim
from headway.ext.paper.verdicts import interval_text, percent_text, verdict_needed

SECTION = "3.1 and 3.2.3"


def compare_masks(work: Study) -> tuple[Table, Claim, Claim]:
    """Train with and without the mask; in translation later positions never exist.

    Dropout and label smoothing are off, because with them no loss falls to zero.
    """
    base = replace(
        work.base,
        model=replace(work.base.model, dropout=0.0),
        training=replace(work.base.training, label_smoothing=0.0),
    )
    groups = work.run_groups(
        [PlannedTrial("with the mask", base), PlannedTrial("without", base, change=remove_mask)]
    )
    masked, unmasked = groups.values()
    table = Table(
        "The decoder's mask",
        ("training", "last training loss, nats", "BLEU"),
        tuple(
            (name, interval_text(group.final_loss, 3, least=0), percent_text(group.bleu))
            for name, group in groups.items()
        ),
        f"Without dropout and label smoothing. {work.seeds_note}",
    )
    pairs = zip(unmasked.final_loss, masked.final_loss, strict=True)
    return (
        table,
        trend_claim(
            "Without the mask the decoder sees the right token, and the training loss is lower.",
            "follows from the design",
            "without less with the mask: {} nats a subword",
            [without - with_mask for without, with_mask in pairs],
            expected="less",
            digits=3,
            learned=LearnedScores(work.least_bleu, (masked.bleu,)),
            why="paired by seed; the model with the mask knows most of its training text by heart too",
            section=SECTION,
        ),
        Claim(
            "The mask is needed: a model trained without it does not learn to translate.",
            "follows from the design",
            f"{percent_text(unmasked.bleu)} BLEU without, {percent_text(masked.bleu)} with",
            verdict_needed(masked.bleu, unmasked.bleu, work.least_bleu),
            f"holds if models with it have at least {work.least_bleu:.0f} BLEU, and those without have less",
            SECTION,
        ),
    )
