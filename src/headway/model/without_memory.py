"""A model of which only the shapes are wanted, before its weights are read or to count them."""

from collections.abc import Callable, Iterable

import torch
from torch.overrides import TorchFunctionMode

from headway.config import ModelConfig
from headway.model.network import Network, make_model


def make_model_without_memory(config: ModelConfig) -> Network:
    """Build a model on torch's meta device: its weights have shapes, but no values, and take no memory."""
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
