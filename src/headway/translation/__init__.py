"""Translate, generate, label and encode text with trained models; nothing here knows how they were trained.

The names are imported at their first use, so that one of them does not load the others.
"""

from typing import TYPE_CHECKING

from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.translation.directory import Model, load_model, read_config, save_model
    from headway.translation.engines.engine import Engine, make_engine
    from headway.translation.engines.step_decoding import StepDecoding
    from headway.translation.search.beam_search import Hypothesis, beam_search, length_penalty
    from headway.translation.search.sampling import sample
    from headway.translation.splitting import Segment
    from headway.translation.translation import Translation
    from headway.translation.translator import Translator

__all__ = [
    "Engine",
    "Hypothesis",
    "Model",
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

_MODULES = {
    "directory": ("Model", "load_model", "read_config", "save_model"),
    "engines.engine": ("Engine", "make_engine"),
    "engines.step_decoding": ("StepDecoding",),
    "search.beam_search": ("Hypothesis", "beam_search", "length_penalty"),
    "search.sampling": ("sample",),
    "splitting": ("Segment",),
    "translation": ("Translation",),
    "translator": ("Translator",),
}

__getattr__ = import_at_first_use(__name__, _MODULES)
