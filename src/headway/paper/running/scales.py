"""The scales of a reproduction: the settings that its comparisons start from, and how long they take."""

from dataclasses import replace
from importlib.resources import files

from headway.config import Config, ModelConfig, TextConfig, TrainingConfig, load

# The paper's base with an eighth of its width and half of its depth, so that every row of Table 3
# has its counterpart, trained as in the paper. In the built-in corpus length depends on the kind of phrase, so that
# batches of like lengths would hold one kind each: steps mix lengths.
SMALL = Config(
    text=TextConfig(vocab_size=2000, split_digits=True),
    model=ModelConfig(
        num_encoder_layers=3, num_decoder_layers=3, d_model=64, d_ff=256, num_heads=8, dropout=0.1
    ),
    training=TrainingConfig(
        max_steps=900, batch_tokens=1600, micro_batch_tokens=1600, packed=True, warmup_steps=200,
        rate_scale=1.0, checkpoint_every=15, average=5, precision="fp32", device="cpu", threads=1,
    ),
)  # fmt: skip
# Methods that are newer than the paper. Without them, a model of natural text learns too slowly for a comparison of
# as many trainings as Table 3 has.
LATER = TrainingConfig(
    optimizer="muon", muon_weight_decay=0.3, zero_outputs=True, decay="none", average=1
)
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
# The same model by the paper's optimizer, and equation 3 times 1.28.
MIDDLE_PUBLISHED = replace(
    MIDDLE,
    training=TrainingConfig(
        max_steps=4000, batch_tokens=2500, micro_batch_tokens=2500, packed=True, warmup_steps=800,
        rate_scale=1.28, checkpoint_every=50, average=5, device="cpu", threads=1,
    ),
)  # fmt: skip
TOY = replace(
    SMALL,
    text=replace(SMALL.text, vocab_size=400),
    training=replace(
        SMALL.training, max_steps=3, batch_tokens=300, micro_batch_tokens=300, warmup_steps=8,
        checkpoint_every=1, average=2,
    ),
)  # fmt: skip

BASES = {"toy": TOY, "minutes": SMALL, "hours": MIDDLE, "paper": Config()}
# Those that are trained as in the paper.
PUBLISHED = {**BASES, "hours": MIDDLE_PUBLISHED}
# About how many seconds one core of a server of the 2020s trains and scores the base.
SECONDS = {"toy": 0.5, "minutes": 80.0, "hours": 330.0, "paper": 0.0}


def paper_settings(name: str) -> Config:
    """Read one of the package's files with the paper's own settings."""
    return load("base", [str(files("headway.paper").joinpath("settings", f"{name}.toml"))])
