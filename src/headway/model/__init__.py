"""Sections 3 and 4 of the paper as modules, without text, files, training or search.

The names are imported at their first use.
"""

from typing import TYPE_CHECKING

from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.model.assembly import make_layer
    from headway.model.attention import MultiHeadAttention, SelfAttention
    from headway.model.attention_functions import Additive, DotProduct, score_scale
    from headway.model.beam_cache import BeamCache, BeamPast
    from headway.model.classifier import Classifier
    from headway.model.decoder_cache import Cache, DecoderState
    from headway.model.dropout_mask import Mask, mix_bits
    from headway.model.embeddings import Embedding, shift_right
    from headway.model.language_model import LanguageModel
    from headway.model.layers import FeedForward, Layer, Residual, Stack
    from headway.model.mixers import Convolution, Mixer, Recurrent
    from headway.model.network import Network, make_model, parameter_count
    from headway.model.ops import Operations, check_labels
    from headway.model.packing import move
    from headway.model.plain_attention import attend_with_mask, attention_mask
    from headway.model.positions import Positions, sinusoids
    from headway.model.primitives import Linear
    from headway.model.transformer import Transformer
    from headway.model.visibility import Segments, SegmentsLike, Visibility
    from headway.model.watching import Record, watch
    from headway.model.without_memory import make_model_without_memory

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


__getattr__ = import_at_first_use(__name__)
