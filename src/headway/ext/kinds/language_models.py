"""The kind of model ``language-model``; see `headway.extension.Extension.kinds`."""

from pathlib import Path

from headway.config import ModelConfig
from headway.ext.kinds.examples import prepare_lines as prepare
from headway.ext.kinds.language_model import LanguageModel
from headway.text import Tokenizer
from headway.training import ValidationReport

CARD = ("Language model", "text-generation", "headway lm . --generate 1")
__all__ = ["CARD", "describe_score", "list_facts", "load_tokenizer", "make_model", "prepare"]


def make_model(config: ModelConfig) -> LanguageModel:
    """Return a language model."""
    return LanguageModel(config)


def load_tokenizer(directory: Path) -> Tokenizer:
    """Read its tokenizer."""
    return Tokenizer.load(directory)


def list_facts(config: ModelConfig, tokenizer: Tokenizer) -> dict[str, object]:
    """Return what ``headway info`` says of it."""
    return {"vocabulary": config.target_vocab_size, "layers": config.num_decoder_layers}


def describe_score(report: ValidationReport) -> str:
    """Return its score besides the perplexity: there is none."""
    return ""
