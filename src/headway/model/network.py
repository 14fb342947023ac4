"""The three kinds of model that one objective trains, and the choice among them."""

from typing import TYPE_CHECKING, TypeAlias

from torch import nn

from headway.config import ModelConfig
from headway.model.transformer import Transformer

if TYPE_CHECKING:
    from headway.model.classifier import Classifier
    from headway.model.language_model import LanguageModel

Network: TypeAlias = "Transformer | LanguageModel | Classifier"


def make_model(config: ModelConfig) -> Network:
    """Build the kind of model that the configuration names; a classifier's targets are its classes."""
    match config.kind:
        case "translator":
            return Transformer(config)
        case "language-model":
            from headway.model.language_model import LanguageModel

            return LanguageModel(config)
        case "classifier":
            from headway.model.classifier import Classifier

            return Classifier(config, config.target_vocab_size)


def parameter_count(model: nn.Module) -> int:
    """Count the parameters; a tied matrix counts once."""
    return sum(parameter.numel() for parameter in model.parameters())
