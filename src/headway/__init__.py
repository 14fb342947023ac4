"""Headway: the Transformer of "Attention Is All You Need", from raw parallel text to a scored model.

The names in `__all__` are the public interface; `docs/library.md` explains each. They are imported at
their first use, so that ``import headway`` is instant. Those of Headway's own extensions are listed for type checkers
and readers alone: `headway.extension` finds them, as it finds those of other packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.config import Config, ModelConfig, SearchConfig, TextConfig, TrainingConfig
    from headway.errors import HeadwayError
    from headway.ext.best import best
    from headway.ext.documents import translate_file
    from headway.ext.kinds import (
        Classifier,
        LanguageModel,
        SentenceEncoder,
        TextClassifier,
        TextGenerator,
    )
    from headway.ext.native import compile_native
    from headway.ext.protect import Glossary, read_glossary
    from headway.model import Transformer, watch
    from headway.text.batches import make_batches
    from headway.text.tokenizer import Tokenizer
    from headway.training.steps.trainer import Trainer
    from headway.training.train import train
    from headway.translation.translation import Translation
    from headway.translation.translator import Translator

__version__ = "0.3.0"
__all__ = [
    "Classifier",
    "Config",
    "Glossary",
    "HeadwayError",
    "LanguageModel",
    "ModelConfig",
    "SearchConfig",
    "SentenceEncoder",
    "TextClassifier",
    "TextConfig",
    "TextGenerator",
    "Tokenizer",
    "Trainer",
    "TrainingConfig",
    "Transformer",
    "Translation",
    "Translator",
    "best",
    "compile_native",
    "make_batches",
    "read_glossary",
    "train",
    "translate_file",
    "watch",
]


def __getattr__(name: str) -> Any:
    from headway.lazy import list_names

    own = {n: m for n, m in list_names(__name__).items() if not m.startswith("headway.ext.")}
    if name in own:
        globals()[name] = getattr(import_module(own[name]), name)
        return globals()[name]
    if not name.startswith("_"):
        from importlib.util import find_spec

        from headway.extension import collect, find_switched_off, load

        # ``from headway import config`` asks here first, whether that is a name.
        if find_spec(f"headway.{name}") is None:
            if found := collect("names", own).get(name):
                return load(*found)
            if owner := find_switched_off("names", name):
                raise AttributeError(f"headway.{name} {owner}")
    raise AttributeError(f"module 'headway' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
