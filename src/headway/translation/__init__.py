"""Search over a step function, and the `Translator`; it does not know how a model was trained."""

from headway.translation.directory import Model, load_model, read_config, save_model
from headway.translation.engine import Engine, make_engine
from headway.translation.joining import Translation
from headway.translation.sampling import sample
from headway.translation.search import Hypothesis, beam_search, length_penalty
from headway.translation.stepping import Stepping
from headway.translation.translator import Translator

__all__ = [
    "Engine",
    "Hypothesis",
    "Model",
    "Stepping",
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
