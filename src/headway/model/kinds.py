"""The three kinds of model, by the name that the configuration has for each."""

from torch import nn

from headway.config import ModelConfig
from headway.model.halves import Classifier, LanguageModel
from headway.model.transformer import Transformer

# What training, with its objective of labels, takes alike.
Network = Transformer | LanguageModel | Classifier


def make_model(config: ModelConfig) -> Network:
    """Build the kind of model that the configuration names; a classifier's targets are its classes."""
    match config.kind:
        case "translator":
            return Transformer(config)
        case "language-model":
            return LanguageModel(config)
        case "classifier":
            return Classifier(config, config.target_vocab_size)


def parameter_count(model: nn.Module) -> int:
    """Count the trained numbers; a tied matrix counts once."""
    return sum(parameter.numel() for parameter in model.parameters())
