"""The settings of a run: four frozen sections that make one `Config`, and presets: the paper's two models, and five for small corpora.

The defaults are the paper's (Vaswani et al., 2017), unless a line says otherwise. Each setting has its
meaning beside it, which `headway config` prints, and the bounds of its value.
"""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, get_type_hints

from headway.config.declaration import Setting
from headway.config.model import ModelConfig
from headway.config.search import SearchConfig
from headway.config.text import TextConfig
from headway.config.training import TrainingConfig
from headway.errors import UsageError
from headway.extension import collect, load


@dataclass(frozen=True, kw_only=True)
class Config:
    """All settings of a run; what an extension does has sections of its own."""

    text: TextConfig = field(default_factory=TextConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)

    def __post_init__(self) -> None:
        if self.search.shortlist and not self.model.num_decoder_layers:
            raise UsageError(
                "search.shortlist: a decoder without layers has no attention to learn a shortlist from: omit it"
            )

    def check_positions(self) -> None:
        """Check that text can be prepared for this model; of prepared text the lengths themselves are checked.

        Raises:
            UsageError: If a pair may have more tokens than the model has learned positions.
        """
        learned = self.model.positions == "learned"
        if learned and self.text.max_tokens > self.model.max_positions:
            raise UsageError(
                f"text.max_tokens = {self.text.max_tokens} is more than model.max_positions ="
                f" {self.model.max_positions} learned positions"
            )

    def largest_model(self) -> ModelConfig:
        """Return the model's settings with the vocabulary size of the text settings, which a small text does not fill."""
        size = self.text.vocab_size
        return dataclasses.replace(self.model, source_vocab_size=size, target_vocab_size=size)

    def sections(self) -> dict[str, Any]:
        """Return the sections by their names."""
        return {name: getattr(self, name) for name in SECTIONS}

    def to_dict(self) -> dict[str, dict[str, Setting]]:
        """Return the settings of a run as nested dictionaries, section -> name -> value."""
        return {name: dataclasses.asdict(section) for name, section in self.sections().items()}


# What config.json of a run holds.
SECTIONS: dict[str, type[Any]] = {
    "text": TextConfig, "model": ModelConfig, "training": TrainingConfig, "search": SearchConfig,
}  # fmt: skip


def find_section(name: str) -> type[Any] | None:
    """Return the type of a section: one of a run, or one that an extension brings; None: there is none."""
    if name in SECTIONS:
        return SECTIONS[name]
    found = collect("sections", SECTIONS).get(name)
    return load(*found) if found else None


def setting_types(sections: Iterable[str]) -> dict[str, object]:
    """Return the type of each setting, by its name as ``section.name``."""
    found: dict[str, object] = {}
    for section in sections:
        if (kind := find_section(section)) is not None:
            found |= {f"{section}.{name}": hint for name, hint in get_type_hints(kind).items()}
    return found


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
