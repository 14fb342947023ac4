"""Sections 3 and 4 of the paper as modules; it knows no text, files, training or search."""

from headway.model.attention import (
    Additive,
    DotProduct,
    MultiHeadAttention,
    SelfAttention,
)
from headway.model.embeddings import Embedding, Positions, sinusoids
from headway.model.ends import shift_right
from headway.model.halves import Classifier, LanguageModel
from headway.model.kinds import Network, make_model, parameter_count
from headway.model.layers import FeedForward, Layer, Residual, Stack
from headway.model.mixers import Convolution, Recurrent
from headway.model.state import DecoderState
from headway.model.transformer import Transformer
from headway.model.visible import Visible
from headway.model.watch import Watched, watch

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
    "MultiHeadAttention",
    "Network",
    "Positions",
    "Recurrent",
    "Residual",
    "SelfAttention",
    "Stack",
    "Transformer",
    "Visible",
    "Watched",
    "make_model",
    "parameter_count",
    "shift_right",
    "sinusoids",
    "watch",
]
