"""Sections 3 and 4 of the paper as modules, without text, files, training or search.

The names are imported at their first use.
"""

from typing import TYPE_CHECKING

from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.model.assembly import (
        MakeMixer,
        make_decoder,
        make_encoder,
        make_layer,
    )
    from headway.model.attention import MultiHeadAttention, SelfAttention
    from headway.model.attention_functions import Additive, DotProduct, score_scale
    from headway.model.construction import make_model, make_model_without_memory
    from headway.model.decoder_cache import BeamCache, BeamPast, Cache, DecoderState
    from headway.model.embeddings import (
        Embedding,
        Output,
        Positions,
        make_embedding,
        make_positions,
        shift_right,
        sinusoids,
    )
    from headway.model.layers import FeedForward, Layer, Mixer, Residual, Stack
    from headway.model.network import Network, initialize_linear_maps, parameter_count
    from headway.model.ops import Linear, Mask, Operations, check_labels, mix_bits
    from headway.model.plain_attention import attend_with_mask, attention_mask
    from headway.model.transformer import Transformer
    from headway.model.visibility import Segments, SegmentsLike, Visibility, move
    from headway.model.watching import Record, watch

__all__ = [
    "Additive",
    "DecoderState",
    "DotProduct",
    "Embedding",
    "FeedForward",
    "Layer",
    "Mixer",
    "MultiHeadAttention",
    "Network",
    "Positions",
    "Record",
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


if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
