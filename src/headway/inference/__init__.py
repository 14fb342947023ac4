"""Translate, generate, label and encode text with trained models; nothing here knows how they were trained."""

from headway.inference.directory import Model, load_model, read_config, save_model
from headway.inference.engines.engine import Engine, make_engine
from headway.inference.engines.step_decoding import StepDecoding
from headway.inference.search.beam_search import Hypothesis, beam_search, length_penalty
from headway.inference.search.sampling import sample
from headway.inference.segments.splitting import Segment
from headway.inference.translation import Translation
from headway.inference.translator import Translator

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
