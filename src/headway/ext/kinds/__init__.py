"""Kinds of model besides translators: language models, classifiers, vectors of sentences; and mixers in place of attention."""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension, Verb
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.kinds.class_labels import LabelTokenizer
    from headway.ext.kinds.classifier import Classifier
    from headway.ext.kinds.examples import Example, prepare_examples, read_examples
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
_GROUP = "other kinds of model"

extension = Extension(
    name="kinds",
    version=__version__,
    verbs={
        "lm": Verb(
            f"{__name__}.verbs.lm",
            "train a language model, print its perplexity, or generate text",
            _GROUP,
        ),
        "classify": Verb(
            f"{__name__}.verbs.classify",
            "train a text classifier, or label texts with it",
            _GROUP,
        ),
        "encode": Verb(
            f"{__name__}.verbs.encode", "turn sentences into vectors with a model's encoder", _GROUP
        ),
    },
    names={
        "Classifier": f"{__name__}.classifier:Classifier",
        "LanguageModel": f"{__name__}.language_model:LanguageModel",
        "SentenceEncoder": f"{__name__}.sentence_encoder:SentenceEncoder",
        "TextClassifier": f"{__name__}.text_classifier:TextClassifier",
        "TextGenerator": f"{__name__}.text_generator:TextGenerator",
    },
    kinds={
        "classifier": f"{__name__}.classifiers",
        "language-model": f"{__name__}.language_models",
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
