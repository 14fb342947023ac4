"""A model put together from weights that came from elsewhere, checked before they are believed."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.model import Transformer


def assemble(shape: ModelConfig, values: Mapping[str, Tensor], file: Path) -> Transformer:
    """Build a model of a shape and give it weights.

    Args:
        shape: Its vocabulary sizes set.
        values: A tensor for each name of the model's state.
        file: Where they come from, for messages.

    Raises:
        HeadwayError: If they are not the weights of such a model, or not all finite.
    """
    if max(shape.num_encoder_layers, shape.num_decoder_layers) > len(values):
        raise HeadwayError(f"{file}: holds fewer layers than it says")
    with torch.device("meta"):
        expected = {n: tuple(t.shape) for n, t in Transformer(shape).state_dict().items()}
    for name in sorted(expected.keys() | values.keys()):
        found = tuple(values[name].shape) if name in values else "missing"
        if found != expected.get(name):
            raise HeadwayError(
                f"{file}: {name} is {found}, and {expected.get(name, 'nothing')} was expected"
            )
    for name, value in values.items():
        if not value.isfinite().all():
            raise HeadwayError(f"{file}: {name} holds numbers that are not finite")
    model = Transformer(shape)
    model.load_state_dict({name: value.float() for name, value in values.items()})
    return model.eval()
