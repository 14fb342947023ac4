"""What the decoder's mask is for: a translator trained without it (paper: sections 3.1 and 3.2.3)."""

from dataclasses import replace

from headway.model import SelfAttention, Transformer
from headway.paper.results import Claim, Table
from headway.paper.running.plan import PlannedTrial
from headway.paper.running.work import Work
from headway.paper.verdicts import if_learned, interval_text, verdict

SECTION = "3.1 and 3.2.3"


def remove_mask(model: Transformer) -> None:
    """Let every position of the decoder attend to later ones, in training."""
    for layer in model.decoder.layers:
        if isinstance(layer.mixer, SelfAttention):
            layer.mixer.causal = False


def compare_masks(work: Work) -> tuple[Table, Claim, Claim]:
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
    gains = masked.less(unmasked)
    table = Table(
        "The decoder's mask",
        ("training", "last training loss, nats", "BLEU"),
        tuple(
            (name, interval_text(group.final_loss, 3), interval_text(group.bleu))
            for name, group in groups.items()
        ),
        f"Without dropout and label smoothing. {work.seeds_note}",
    )
    pairs = zip(masked.final_loss, unmasked.final_loss, strict=True)
    falls = [with_mask - without for with_mask, without in pairs]
    return (
        table,
        Claim(
            "Without the mask the decoder sees the right token, and the training loss is lower.",
            "follows from the design",
            f"{interval_text(unmasked.final_loss, 3)} nats a subword, {interval_text(falls, 3)} less than with"
            " the mask",
            if_learned(verdict(falls, 1), work.least_bleu, masked.bleu),
            "paired by seed; the model with the mask knows most of its training text by heart too",
            SECTION,
        ),
        Claim(
            "Without the mask in training, translations are nonsense.",
            "follows from the design",
            f"{interval_text(unmasked.bleu)} BLEU, {interval_text(gains)} less",
            if_learned(verdict(gains, 1), work.least_bleu, masked.bleu),
            "paired by seed",
            SECTION,
        ),
    )
