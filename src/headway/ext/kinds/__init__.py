"""Kinds of model besides translators: language models, classifiers, vectors of sentences; and mixers in place of attention."""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension, Verb
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.kinds.class_labels import LabelTokenizer
    from headway.ext.kinds.classifier import Classifier
    from headway.ext.kinds.examples import LabeledText, prepare_examples, read_examples
    from headway.ext.kinds.language_model import LanguageModel
    from headway.ext.kinds.mixers import Convolution, Recurrent
    from headway.ext.kinds.sentence_encoder import SentenceEncoder
    from headway.ext.kinds.text_classifier import TextClassifier
    from headway.ext.kinds.text_generator import TextGenerator

__all__ = [
    "Classifier",
    "Convolution",
    "LanguageModel",
    "Recurrent",
    "SentenceEncoder",
    "TextClassifier",
    "TextGenerator",
]
_MIXERS = ("Convolution", "Recurrent")

extension = Extension(
    name="kinds",
    version=__version__,
    verbs={
        name: Verb(f"{__name__}.verbs.{name}", summary, "other kinds of model")
        for name, summary in {
            "lm": "train a language model, print its perplexity, or generate text",
            "classify": "train a text classifier, or label texts with it",
            "encode": "turn sentences into vectors with a model's encoder",
        }.items()
    },
    names={name: f"{__name__}:{name}" for name in __all__ if name not in _MIXERS},
    kinds={
        "classifier": f"{__name__}.classifier",
        "language-model": f"{__name__}.language_model",
    },
    mixers={
        **dict.fromkeys(("lstm", "gru"), f"{__name__}.mixers:make_recurrent"),
        **dict.fromkeys(
            ("convolution", "dilated", "separable"), f"{__name__}.mixers:make_convolution"
        ),
    },
)

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
