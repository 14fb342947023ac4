"""What the decoder's mask is for: a translator trained without it (paper: sections 3.1 and 3.2.3)."""

from headway.model import SelfAttention, Transformer
from headway.paper.results import Claim, Table, say, verdict
from headway.paper.trial import Trial
from headway.paper.work import Job, Work


def see_ahead(model: Transformer) -> None:
    """Take the decoder's mask away: every position sees those after it, in training."""
    for layer in model.decoder.layers:
        if isinstance(layer.mixer, SelfAttention):
            layer.mixer.causal = False


def without_mask(work: Work) -> tuple[Table, Claim, Claim]:
    """Train with and without the mask; translation never has what training saw."""
    groups = work.by_seed(
        [Job("with the mask", work.base), Job("without", work.base, change=see_ahead)]
    )
    rows = tuple(
        (name, say([_last(t) for t in group], 3), say([t.bleu for t in group]))
        for name, group in groups.items()
    )
    masked, unmasked = groups.values()
    losses = [_last(a) - _last(b) for a, b in zip(masked, unmasked, strict=True)]
    scores = [a.bleu - b.bleu for a, b in zip(masked, unmasked, strict=True)]
    table = Table(
        "The decoder's mask",
        ("training", "last training loss, nats", "BLEU"),
        rows,
        f"{len(work.seeds)} seeds, means with 95 % intervals by Student's t.",
    )
    return (
        table,
        Claim(
            "Without the mask the right token can be seen: the training loss falls to nothing.",
            "follows from the design",
            f"{say([_last(t) for t in unmasked], 3)} nats, {say(losses, 3)} less",
            work.sober(verdict(losses, 1), masked),
            "paired by seed",
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
