"""Sections 3 and 4 of the paper as modules, without text, files, training or search.

The names are imported at their first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.model.attention import MultiHeadAttention, SelfAttention
    from headway.model.attention_functions import Additive, DotProduct
    from headway.model.classifier import Classifier
    from headway.model.decoder_cache import DecoderState
    from headway.model.embeddings import Embedding, shift_right
    from headway.model.language_model import LanguageModel
    from headway.model.layers import FeedForward, Layer, Residual, Stack
    from headway.model.mixers import Convolution, Mixer, Recurrent
    from headway.model.network import Network, make_model, parameter_count
    from headway.model.positions import Positions, sinusoids
    from headway.model.transformer import Transformer
    from headway.model.visibility import Segments, Visibility
    from headway.model.watch import Record, watch

__all__ = [
    "Additive",
    "Classifier",
    "Convolution",
    "DecoderState",
    "DotProduct",
    "Embedding",
    "FeedForward",
    "LanguageModel",
    "Layer",
    "Mixer",
    "MultiHeadAttention",
    "Network",
    "Positions",
    "Record",
    "Recurrent",
    "Residual",
    "Segments",
    "SelfAttention",
    "Stack",
    "Transformer",
    "Visibility",
    "make_model",
    "parameter_count",
    "shift_right",
    "sinusoids",
    "watch",
]

_MODULES = {
    "headway.model.attention": (
        "MultiHeadAttention",
        "SelfAttention",
    ),
    "headway.model.attention_functions": (
        "Additive",
        "DotProduct",
    ),
    "headway.model.classifier": ("Classifier",),
    "headway.model.decoder_cache": ("DecoderState",),
    "headway.model.embeddings": (
        "Embedding",
        "shift_right",
    ),
    "headway.model.language_model": ("LanguageModel",),
    "headway.model.layers": (
        "FeedForward",
        "Layer",
        "Residual",
        "Stack",
    ),
    "headway.model.mixers": (
        "Convolution",
        "Mixer",
        "Recurrent",
    ),
    "headway.model.network": (
        "Network",
        "make_model",
        "parameter_count",
    ),
    "headway.model.positions": (
        "Positions",
        "sinusoids",
    ),
    "headway.model.transformer": ("Transformer",),
    "headway.model.visibility": (
        "Segments",
        "Visibility",
    ),
    "headway.model.watch": (
        "Record",
        "watch",
    ),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            globals()[name] = getattr(import_module(module), name)
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
