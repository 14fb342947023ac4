"""Search over a step function, and the `Translator`; it does not know how a model was trained."""

from headway.translation.directory import Model, load_model, read_config, save_model
from headway.translation.search import Hypothesis, beam_search, length_penalty, sample
from headway.translation.translator import Translation, Translator

__all__ = [
    "Hypothesis",
    "Model",
    "Translation",
    "Translator",
    "beam_search",
    "length_penalty",
    "load_model",
    "read_config",
    "sample",
    "save_model",
]
