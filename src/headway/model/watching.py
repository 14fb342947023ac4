"""Attention weights and layer outputs on request, by hooks; a forward without them costs nothing."""

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from headway.errors import HeadwayError, suggest
from headway.model.attention_functions import Additive, DotProduct
from headway.model.layers import Layer
from headway.model.plain_attention import attention_mask
from headway.model.visibility import Visibility


@dataclass
class Record:
    """The last forward's attention and outputs, by the dotted name of the module.

    Attributes:
        attention: Weights [B, H, T, S], each row summing to 1.
        outputs: Layer outputs [B, T, D].
    """

    attention: dict[str, Tensor] = field(default_factory=dict)
    outputs: dict[str, Tensor] = field(default_factory=dict)


@contextmanager
def watch(model: nn.Module, only: str | Collection[str] = "") -> Iterator[Record]:
    """Record attention maps and layer outputs of this thread's forwards inside the ``with``.

    The weights are computed again from the queries and keys that the attention received, so the
    model itself may use any fused kernel. Forwards of other threads are not recorded.

    Args:
        model: A Transformer, or a part of one.
        only: The names of the attention maps and layers to record, or one name; empty: all of them.

    Raises:
        HeadwayError: If the model has none of one of these names.

    Examples:
        >>> with watch(model) as seen:
        ...     model(source, target)
        >>> seen.attention["decoder.layers.0.cross"].shape  # [B, H, T, S]
    """
    record = Record()
    names = {only} - {""} if isinstance(only, str) else set(only)
    handles = []
    this_thread = threading.get_ident()

    def record_core(name: str, core: DotProduct | Additive) -> RemovableHandle:
        def hook(
            _module: nn.Module, inputs: tuple[Tensor, Tensor, Tensor, Visibility], _output: Tensor
        ) -> None:
            if threading.get_ident() != this_thread:
                return
            query, key, _value, visibility = inputs
            mask = attention_mask(query, key, visibility)
            record.attention[name] = core.weights(query, key, mask).detach()

        return core.register_forward_hook(hook)

    def record_layer(name: str, layer: Layer) -> RemovableHandle:
        def hook(_module: nn.Module, _inputs: tuple[object, ...], output: Tensor) -> None:
            if threading.get_ident() == this_thread:
                record.outputs[name] = output.detach()

        return layer.register_forward_hook(hook)

    parts = {
        _map_name(name): module
        for name, module in model.named_modules()
        if isinstance(module, DotProduct | Additive | Layer)
    }
    for unknown in sorted(names - parts.keys()):
        raise HeadwayError(
            f"{unknown}: the model has no such attention or layer{suggest(unknown, parts)}"
        )
    for name, module in parts.items():
        if names and name not in names:
            continue
        if isinstance(module, DotProduct | Additive):
            handles.append(record_core(name, module))
        else:
            handles.append(record_layer(name, module))
    try:
        yield record
    finally:
        for handle in handles:
            handle.remove()


def _map_name(path: str) -> str:
    """Return the name of the attention map of a module.

    "decoder.layers.0.mixer.attention.core" becomes "decoder.layers.0.self", and "decoder.layers.0.cross.core"
    becomes "decoder.layers.0.cross".
    """
    return path.removesuffix(".core").replace(".mixer.attention", ".self")
