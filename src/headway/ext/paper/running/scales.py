"""The scales of a reproduction: the settings that its comparisons start from, and how long they take."""

from dataclasses import replace

from headway.config import Config, ModelConfig, TextConfig, TrainingConfig

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
TOY = replace(
    SMALL,
    text=replace(SMALL.text, vocab_size=400),
    training=replace(
        SMALL.training, max_steps=3, cool_steps=2, batch_tokens=300, micro_batch_tokens=300, warmup_steps=8,
        checkpoint_every=1,
    ),
)  # fmt: skip

BASES = {"toy": TOY, "minutes": SMALL, "hours": MIDDLE, "paper": Config()}


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


# The same models trained as in the paper, for as long as they need then.
PUBLISHED = {
    "toy": as_published(TOY, 3, 8, 1.0),
    "minutes": as_published(SMALL, 900, 200, 1.0),
    "hours": as_published(MIDDLE, 3600, 800, 1.28),
    "paper": Config(),
}
# About how many seconds one core of a server of the 2020s trains and scores the base; 0: not known. A toy's are mostly those
# in which its process starts.
SECONDS = {"toy": 0.0, "minutes": 40.0, "hours": 330.0, "paper": 0.0}
