"""The kind of model ``classifier``; see `headway.extension.Extension.kinds`."""

from pathlib import Path

from headway.config import ModelConfig
from headway.ext.kinds.class_labels import LabelTokenizer
from headway.ext.kinds.classifier import Classifier
from headway.ext.kinds.examples import prepare_examples as prepare
from headway.text import Tokenizer
from headway.training import ValidationReport

CARD = ("Classifier of texts", "text-classification", "headway classify . < texts")
__all__ = ["CARD", "describe_score", "list_facts", "load_tokenizer", "make_model", "prepare"]


def make_model(config: ModelConfig) -> Classifier:
    """Return a classifier with one class for each id of the target vocabulary."""
    return Classifier(config, config.target_vocab_size)


def load_tokenizer(directory: Path) -> LabelTokenizer:
    """Read its subwords and its labels."""
    return LabelTokenizer.load(directory)


def list_facts(config: ModelConfig, tokenizer: Tokenizer) -> dict[str, object]:
    """Return what ``headway info`` says of it."""
    labels = tokenizer.labels if isinstance(tokenizer, LabelTokenizer) else ()
    return {
        "labels": tuple(labels),
        "vocabulary": config.source_vocab_size,
        "layers": config.num_encoder_layers,
    }


def describe_score(report: ValidationReport) -> str:
    """Return its score besides the perplexity."""
    return f"accuracy {report.accuracy:.2f} %  "
