"""The model of a configuration: with its weights, or without, where only the shapes are wanted."""

from collections.abc import Callable, Iterable

import torch
from torch.overrides import TorchFunctionMode

from headway.config import ModelConfig
from headway.extension import require
from headway.model.network import Network
from headway.model.transformer import Transformer


def make_model(config: ModelConfig) -> Network:
    """Build the kind of model that the configuration names.

    Raises:
        UsageError: If no extension in use has this kind.
    """
    if config.kind == "translator":
        return Transformer(config)
    kind = require(f"model.kind = {config.kind!r}", "kinds", config.kind)
    made: Network = kind.make_model(config)
    return made


def make_model_without_memory(config: ModelConfig) -> Network:
    """Build a model on torch's meta device, to count its weights or to read them: they have shapes, but no values yet."""
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
