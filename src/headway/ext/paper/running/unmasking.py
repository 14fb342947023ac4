"""A change of a model before its training: the decoder loses its mask.

It stands apart from the experiment that judges such models, because a training depends on the source code of its change.
"""

from headway.model import SelfAttention, Transformer


def remove_mask(model: Transformer) -> None:
    """Let every position of the decoder attend to later ones, in training."""
    for layer in model.decoder.layers:
        if isinstance(layer.mixer, SelfAttention):
            layer.mixer.causal = False
