"""Sections 3 and 4 of the paper as modules, without text, files, training or search.

The names are imported at their first use.
"""

from typing import TYPE_CHECKING

from headway.lazy import import_at_first_use

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
    "attention": (
        "MultiHeadAttention",
        "SelfAttention",
    ),
    "attention_functions": (
        "Additive",
        "DotProduct",
    ),
    "classifier": ("Classifier",),
    "decoder_cache": ("DecoderState",),
    "embeddings": (
        "Embedding",
        "shift_right",
    ),
    "language_model": ("LanguageModel",),
    "layers": (
        "FeedForward",
        "Layer",
        "Residual",
        "Stack",
    ),
    "mixers": (
        "Convolution",
        "Mixer",
        "Recurrent",
    ),
    "network": (
        "Network",
        "make_model",
        "parameter_count",
    ),
    "positions": (
        "Positions",
        "sinusoids",
    ),
    "transformer": ("Transformer",),
    "visibility": (
        "Segments",
        "Visibility",
    ),
    "watch": (
        "Record",
        "watch",
    ),
}

__getattr__ = import_at_first_use(__name__, _MODULES)
