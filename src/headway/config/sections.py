"""All settings: five frozen sections that make one `Config`.

The defaults are the paper's (Vaswani et al., 2017), unless a line says otherwise. Each setting has its
meaning beside it, which `headway config` prints, and the bounds of its value.
"""

import dataclasses
from dataclasses import dataclass, field

from headway.config.model import ModelConfig
from headway.config.search import SearchConfig
from headway.config.server import ServerConfig
from headway.config.text import TextConfig
from headway.config.training import TrainingConfig
from headway.errors import HeadwayError

Setting = bool | int | float | str  # a value


@dataclass(frozen=True, kw_only=True)
class Config:
    """All settings. Those of a run are `RUN_SECTIONS`; a server has its own."""

    text: TextConfig = field(default_factory=TextConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    server: ServerConfig = field(default_factory=ServerConfig)

    def __post_init__(self) -> None:
        if self.search.shortlist and not self.model.num_decoder_layers:
            raise HeadwayError(
                "search.shortlist: a decoder without layers has no attention to learn a shortlist from: omit it"
            )

    def check_positions(self) -> None:
        """Check that text can be prepared for this model; of prepared text the lengths themselves are checked.

        Raises:
            HeadwayError: If a pair may have more tokens than the model has learned positions.
        """
        learned = self.model.positions == "learned"
        if learned and self.text.max_tokens > self.model.max_positions:
            raise HeadwayError(
                f"text.max_tokens = {self.text.max_tokens} is more than model.max_positions ="
                f" {self.model.max_positions} learned positions"
            )

    def largest_model(self) -> ModelConfig:
        """Return the model's settings with the vocabulary size of the text settings, which a small text does not fill."""
        size = self.text.vocab_size
        return dataclasses.replace(self.model, source_vocab_size=size, target_vocab_size=size)

    def to_dict(self) -> dict[str, dict[str, Setting]]:
        """Return the settings of a run as nested dictionaries, section -> name -> value."""
        return {section: dataclasses.asdict(getattr(self, section)) for section in RUN_SECTIONS}


Section = TextConfig | ModelConfig | TrainingConfig | SearchConfig | ServerConfig
SECTIONS: dict[str, type[Section]] = {
    "text": TextConfig, "model": ModelConfig, "training": TrainingConfig, "search": SearchConfig,
    "server": ServerConfig,
}  # fmt: skip
RUN_SECTIONS = ("text", "model", "training", "search")  # what config.json of a run holds
