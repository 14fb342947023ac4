"""The three kinds of model that one objective trains, and the choice among them."""

from collections.abc import Callable, Iterable

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from headway.config import ModelConfig
from headway.model.classifier import Classifier
from headway.model.language_model import LanguageModel
from headway.model.transformer import Transformer

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


def make_model_without_memory(config: ModelConfig) -> Network:
    """Build a model whose weights have shapes but no values."""
    with torch.device("meta"), _SkipInitialization():
        return make_model(config)


class _SkipInitialization(TorchFunctionMode):
    """Leaves tensors as they are where ``torch.nn.init`` would fill them with random numbers.

    On the meta device, ``normal_`` would import torch's compiler, which takes over a second.
    """

    def __torch_function__(
        self,
        function: Callable[..., object],
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        kwargs = kwargs or {}
        if getattr(function, "__module__", "") == "torch.nn.init":
            return kwargs["tensor"] if "tensor" in kwargs else args[0]
        return function(*args, **kwargs)


def parameter_count(model: nn.Module) -> int:
    """Count the parameters; a tied matrix counts once."""
    return sum(parameter.numel() for parameter in model.parameters())
