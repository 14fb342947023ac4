"""What the decoder's mask is for: a translator trained without it (paper: sections 3.1 and 3.2.3)."""

from dataclasses import replace

from headway.model import SelfAttention, Transformer
from headway.paper.results import Claim, Table, say, verdict
from headway.paper.running.trial import Trial
from headway.paper.running.work import Job, Work

NOTHING = 0.05  # nats a subword


def see_ahead(model: Transformer) -> None:
    """Take the decoder's mask away: every position sees those after it, in training."""
    for layer in model.decoder.layers:
        if isinstance(layer.mixer, SelfAttention):
            layer.mixer.causal = False


def without_mask(work: Work) -> tuple[Table, Claim, Claim]:
    """Train with and without the mask; translation never has what training saw.

    Dropout and label smoothing are off: with them no loss falls to nothing.
    """
    base = replace(
        work.base,
        model=replace(work.base.model, dropout=0.0),
        training=replace(work.base.training, label_smoothing=0.0),
    )
    groups = work.by_seed([Job("with the mask", base), Job("without", base, change=see_ahead)])
    rows = tuple(
        (name, say([_last(t) for t in group], 3), say([t.bleu for t in group]))
        for name, group in groups.items()
    )
    masked, unmasked = groups.values()
    losses = [_last(trial) for trial in unmasked]
    scores = [a.bleu - b.bleu for a, b in zip(masked, unmasked, strict=True)]
    table = Table(
        "The decoder's mask",
        ("training", "last training loss, nats", "BLEU"),
        rows,
        f"Without dropout and label smoothing. {len(work.seeds)} seeds, means with 95 % intervals by"
        " Student's t.",
    )
    return (
        table,
        Claim(
            "Without the mask the right token can be seen: the training loss falls to nothing.",
            "follows from the design",
            f"{say(losses, 3)} nats; with it {say([_last(t) for t in masked], 3)}",
            work.sober(verdict([NOTHING - loss for loss in losses], 1), masked),
            f"holds if the interval lies below {NOTHING} nats a subword",
            "3.1 and 3.2.3",
        ),
        Claim(
            "Without the mask in training, translations are nonsense.",
            "follows from the design",
            f"{say([t.bleu for t in unmasked])} BLEU, {say(scores)} less",
            work.sober(verdict(scores, 1), masked),
            "paired by seed",
            "3.1 and 3.2.3",
        ),
    )


def _last(trial: Trial) -> float:
    return trial.loss[-1][1]
