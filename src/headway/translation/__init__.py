"""Translate, generate, label and encode text with trained models; nothing here knows how they were trained.

The names are imported at their first use, so that one of them does not load the others.
"""

from typing import TYPE_CHECKING

from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.translation.alignment import link_words, single_layer, usual_layer
    from headway.translation.batching import batch_by_length, batch_rows, pad_right, padded_batches
    from headway.translation.directory import (
        CARD,
        MAX_CONFIG_BYTES,
        WEIGHTS,
        Model,
        StoredConfig,
        load_any_model,
        load_model,
        read_config,
        save_model,
        write_config,
    )
    from headway.translation.engines import make_engine, resolve_precision
    from headway.translation.engines.plain_engine import PlainEngine
    from headway.translation.engines.protocols import (
        Engine,
        GivenTarget,
        LayerChoice,
        LogProbabilities,
        add_log_p,
        average_logits,
        take_log_probabilities,
    )
    from headway.translation.engines.step_decoding import StepDecoding
    from headway.translation.front_matter import complete_card, license_fields, split_card
    from headway.translation.masking import Masking, Terms
    from headway.translation.pipeline import Pipeline, find_translations
    from headway.translation.requests import Find, Job, Read, Request, run, run_each, together
    from headway.translation.search.beam_search import (
        Candidates,
        Hypothesis,
        Ids,
        Rules,
        WordPairs,
        beam_search,
        check_finite,
        length_penalty,
    )
    from headway.translation.search.constraints import Constraint, find_alternatives, spell_words
    from headway.translation.search.sampling import sample
    from headway.translation.sentence_ends import has_ordinals
    from headway.translation.splitting import (
        Piece,
        Segment,
        is_plain,
        list_gaps,
        split_line,
        split_sentences,
    )
    from headway.translation.token_search import TokenSearch, find_hypotheses, search_engine
    from headway.translation.token_stream import stream_tokens
    from headway.translation.translation import Translation
    from headway.translation.translator import Translator
    from headway.translation.weights import check_header, save_tensors, write_weights

__all__ = [
    "Engine",
    "Hypothesis",
    "Model",
    "Piece",
    "Segment",
    "StepDecoding",
    "Translation",
    "Translator",
    "beam_search",
    "length_penalty",
    "load_model",
    "make_engine",
    "read_config",
    "sample",
    "save_model",
]


if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
