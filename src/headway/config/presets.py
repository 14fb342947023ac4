"""Named settings: the paper's two models, and five for small corpora."""

from dataclasses import replace

from headway.config.model import ModelConfig
from headway.config.search import SearchConfig
from headway.config.sections import Config
from headway.config.text import TextConfig
from headway.config.training import TrainingConfig

_BASE = Config()
# The model of tiny by later methods, in a third of the time: R-Drop, Muon, and sentences of all lengths in a step.
_QUICK = Config(
    text=TextConfig(vocab_size=8000),
    model=ModelConfig(
        num_encoder_layers=4, num_decoder_layers=4, d_model=128, d_ff=512, num_heads=4, dropout=0.15,
    ),
    training=TrainingConfig(
        max_steps=3200, batch_tokens=2500, micro_batch_tokens=1250, packed=True, agreement=5.0,
        optimizer="muon", muon_weight_decay=0.3, zero_outputs=True,
        rate_scale=0.64, warmup_steps=200, decay="none", cool_steps=2100,
        validate_every=400, checkpoint_every=100, average=4,
    ),
    search=SearchConfig(alpha=1.0),
)  # fmt: skip
# For ten times as many pairs, each of which is read a few times only: a wider model with less dropout. R-Drop would
# read each batch twice, and is left out.
_SMALL = replace(
    _QUICK,
    model=replace(_QUICK.model, d_model=192, d_ff=768, num_heads=6, dropout=0.1),
    training=replace(
        _QUICK.training,
        agreement=0.0, batch_tokens=5000, micro_batch_tokens=2500, warmup_steps=300,
        max_steps=4800, cool_steps=3200, validate_every=1200, checkpoint_every=200,
    ),
)  # fmt: skip
PRESETS: dict[str, Config] = {
    # For 30,000 pairs: the paper's architecture and schedule in a small size,
    # with the dropout and the high learning rate of Wu et al. (2021).
    "tiny": Config(
        text=TextConfig(vocab_size=8000),
        model=ModelConfig(
            num_encoder_layers=4, num_decoder_layers=4, d_model=128, d_ff=512, num_heads=4, dropout=0.3,
        ),
        training=TrainingConfig(
            max_steps=8000, batch_tokens=4096, micro_batch_tokens=1024, rate_scale=2.5, warmup_steps=2000,
            validate_every=500, checkpoint_every=250, average=10,
        ),
    ),
    "quick": _QUICK,
    # More steps, which allow more dropout.
    "thorough": replace(
        _QUICK,
        model=replace(_QUICK.model, dropout=0.2),
        training=replace(_QUICK.training, max_steps=8000, cool_steps=5300, validate_every=1000),
    ),
    "small": _SMALL,
    # For twice as many pairs as small: wider again, and as many steps as thorough.
    "medium": replace(
        _SMALL,
        model=replace(_SMALL.model, d_model=256, d_ff=1024, num_heads=8),
        training=replace(_SMALL.training, max_steps=8000, cool_steps=5300, validate_every=1000),
    ),
    # The paper's settings. Its 10 minutes between checkpoints are 1,500 steps of 0.4 s for base and
    # 600 of 1.0 s for big; base averages the last 5 checkpoints, big the last 20 (section 6.1).
    "base": _BASE,
    "big": replace(
        _BASE,
        model=ModelConfig(d_model=1024, d_ff=4096, num_heads=16, dropout=0.3),
        training=TrainingConfig(max_steps=300000, checkpoint_every=600, average=20),
    ),
}  # fmt: skip
