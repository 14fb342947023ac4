"""The scales of a reproduction: the settings that its comparisons start from, and how long they take."""

from dataclasses import replace
from importlib.resources import files

from headway.config import Config, ModelConfig, TextConfig, TrainingConfig, load

# The paper's base with an eighth of its width and half of its depth, so that every row of Table 3
# has its counterpart. In the built-in corpus length depends on the kind of phrase, so that batches of
# like lengths would hold one kind each: steps mix lengths.
SMALL = Config(
    text=TextConfig(vocab_size=2000, split_digits=True),
    model=ModelConfig(
        num_encoder_layers=3, num_decoder_layers=3, d_model=64, d_ff=256, num_heads=8, dropout=0.1
    ),
    training=TrainingConfig(
        max_steps=450, batch_tokens=1600, micro_batch_tokens=1600, packed=True, warmup_steps=200,
        rate_scale=1.0, checkpoint_every=50, average=5, precision="fp32", device="cpu", threads=1,
    ),
)  # fmt: skip
# For Multi30k: Wu et al. (2021) trained a model of width 128 with 4 + 4 layers on it.
MIDDLE = Config(
    text=TextConfig(vocab_size=8000),
    model=ModelConfig(
        num_encoder_layers=3, num_decoder_layers=3, d_model=128, d_ff=512, num_heads=8, dropout=0.2
    ),
    training=TrainingConfig(
        max_steps=5000, batch_tokens=2500, micro_batch_tokens=2500, packed=True, warmup_steps=800,
        rate_scale=1.28, cool_steps=3500, checkpoint_every=250, average=5, device="cpu", threads=1,
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
# About how many seconds one core of a server of the 2020s trains and scores the base.
SECONDS = {"toy": 0.5, "minutes": 50.0, "hours": 1000.0, "paper": 0.0}


def paper_settings(name: str) -> Config:
    """Read one of the package's files with the paper's own settings."""
    return load("base", [str(files("headway.paper").joinpath("settings", f"{name}.toml"))])
