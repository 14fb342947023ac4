"""The scales of a reproduction: the settings that its comparisons start from, and what a model must reach."""

from dataclasses import dataclass, replace

from headway.config import Config, ModelConfig, TextConfig, TrainingConfig
from headway.ext.paper.verdicts import Gate

# Methods that are newer than the paper. With Adam and equation 3, the larger and the deeper models of Table 3
# learn too slowly for a comparison of so many trainings.
LATER = TrainingConfig(optimizer="muon", zero_outputs=True, decay="none", average=1)
# The paper's base with an eighth of its width and half of its depth, so that every row of Table 3
# has its counterpart. In the built-in corpus length depends on the kind of phrase, so that batches of
# like lengths would hold one kind each: steps mix lengths.
SMALL = Config(
    text=TextConfig(vocab_size=2000, split_digits=True),
    model=ModelConfig(
        num_encoder_layers=3, num_decoder_layers=3, d_model=64, d_ff=256, num_heads=8, dropout=0.1
    ),
    training=replace(
        LATER, max_steps=500, batch_tokens=1600, micro_batch_tokens=1600, packed=True, warmup_steps=100,
        rate_scale=1.0, cool_steps=330, checkpoint_every=50, precision="fp32", device="cpu", threads=1,
    ),
)  # fmt: skip
# For Multi30k: Wu et al. (2021) trained a model of width 128 with 4 + 4 layers on it.
MIDDLE = Config(
    text=TextConfig(vocab_size=8000),
    model=ModelConfig(
        num_encoder_layers=3, num_decoder_layers=3, d_model=128, d_ff=512, num_heads=8, dropout=0.1
    ),
    training=replace(
        LATER, max_steps=1700, batch_tokens=2500, micro_batch_tokens=2500, packed=True, warmup_steps=200,
        rate_scale=0.64, cool_steps=1100, checkpoint_every=250, device="cpu", threads=1,
    ),
)  # fmt: skip


def as_published(base: Config, steps: int, warmup_steps: int, rate_scale: float) -> Config:
    """Return a base with the paper's optimizer, learning rate (section 5.3) and averaging (section 6.1).

    The averaged checkpoints are about as far apart as the paper's, in shares of the training.
    """
    ours, paper = base.training, TrainingConfig()
    training = replace(
        paper, max_steps=steps, warmup_steps=warmup_steps, rate_scale=rate_scale,
        checkpoint_every=max(1, steps // 60), batch_tokens=ours.batch_tokens,
        micro_batch_tokens=ours.micro_batch_tokens, packed=ours.packed, precision=ours.precision,
        device=ours.device, threads=ours.threads,
    )  # fmt: skip
    return replace(base, training=training)


@dataclass(frozen=True)
class Scale:
    """How large the models of a reproduction are, and how long they train.

    Attributes:
        base: The settings that comparisons start from.
        published: The same model trained as in the paper, for as long as it needs then.
        gate: The BLEU below which a translator has hardly learned anything: about half of the base's.
        built_in: How many pairs of the built-in corpus are trained on and scored; None: text is given.
    """

    base: Config
    published: Config
    gate: Gate
    built_in: tuple[int, int] | None = None


SCALES = {
    "minutes": Scale(SMALL, as_published(SMALL, 900, 200, 1.0), Gate(50.0), built_in=(24_000, 600)),
    "hours": Scale(MIDDLE, as_published(MIDDLE, 3600, 800, 1.28), Gate(20.0, earlier=35.0)),
    "paper": Scale(Config(), Config(), Gate(50.0)),
}
