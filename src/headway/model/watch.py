"""Attention weights and layer outputs on request, by hooks: the ordinary forward knows nothing of it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from headway.model.attention import Additive, DotProduct, whole_mask
from headway.model.layers import Layer


@dataclass
class Watched:
    """What was seen, by the dotted name of the module; the last forward wins.

    Attributes:
        attention: Weights [B, H, T, S], each row summing to 1.
        outputs: Layer outputs [B, T, D].
    """

    attention: dict[str, Tensor] = field(default_factory=dict)
    outputs: dict[str, Tensor] = field(default_factory=dict)


@contextmanager
def watch(model: nn.Module) -> Iterator[Watched]:
    """Record every attention map and layer output of this thread's forwards inside the ``with``.

    The weights are computed again from the queries and keys that the attention received, so the
    model itself may use any fused kernel. What other threads do with the model is not seen.

    Example:
        >>> with watch(model) as seen:
        ...     model(source, target)
        >>> seen.attention["decoder.layers.0.cross"].shape  # [B, H, T, S]
    """
    seen = Watched()
    handles = []
    here = threading.get_ident()

    def see_core(path: str, core: DotProduct | Additive) -> Any:
        # "decoder.layers.0.mixer.attention.core" and "decoder.layers.0.cross.core": drop the parts
        # that say nothing.
        name = path.removesuffix(".core").replace(".mixer.attention", ".self")

        def hook(_module: nn.Module, inputs: tuple[Any, ...], _output: Tensor) -> None:
            if threading.get_ident() != here:
                return
            query, key, _value, visible = inputs
            mask = whole_mask(query, key, visible)
            seen.attention[name] = core.weights(query, key, mask).detach()

        return core.register_forward_hook(hook)

    def see_layer(name: str, layer: Layer) -> Any:
        def hook(_module: nn.Module, _inputs: tuple[Any, ...], output: Tensor) -> None:
            if threading.get_ident() == here:
                seen.outputs[name] = output.detach()

        return layer.register_forward_hook(hook)

    for name, module in model.named_modules():
        if isinstance(module, DotProduct | Additive):
            handles.append(see_core(name, module))
        elif isinstance(module, Layer):
            handles.append(see_layer(name, module))
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
