"""Sentences of a toy language, its translation, and small models with random weights."""

import io
import random

import torch

from headway.config import Config, ModelConfig, TextConfig
from headway.model import Transformer
from headway.text.learning import learn_model
from headway.text.tokenizer import Tokenizer
from headway.translation import load_model, save_model

SOURCE_WORDS = [
    "the", "a", "cat", "dog", "sees", "hears", "green", "blue", "house", "tree", "runs", "under",
]  # fmt: skip
TARGET_WORDS = [
    "die", "eine", "Katze", "Hund", "sieht", "hört", "grün", "blau", "Haus", "Baum", "läuft", "unter",
]  # fmt: skip


def sentences(count, seed, longest=9):
    """Sentences of random words, always the same for a seed."""
    chooser = random.Random(seed)
    lengths = [chooser.randrange(2, longest) for _ in range(count)]
    return [" ".join(chooser.choices(SOURCE_WORDS, k=length)) for length in lengths]


def translate_words(text):
    """The language the tests translate into: word by word."""
    words = dict(zip(SOURCE_WORDS, TARGET_WORDS, strict=True))
    return " ".join(words[word] for word in text.split())


def write_pairs(folder, name, lines):
    """Write sentences and their translations as two files, NAME.en and NAME.de."""
    paths = [folder / f"{name}.{language}" for language in ("en", "de")]
    for path, side in zip(paths, (lines, map(translate_words, lines)), strict=True):
        path.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    return paths


def small_config(tokenizer):
    return Config(
        model=ModelConfig(
            source_vocab_size=tokenizer.source_vocab_size,
            target_vocab_size=tokenizer.target_vocab_size,
            num_encoder_layers=2,
            num_decoder_layers=2,
            d_model=24,
            d_ff=37,
            num_heads=3,
            dropout=0.0,
        )
    )


def write_random_model(directory, tokenizer, pair=("en", "de"), seed=3):
    """Write a model directory with random weights, sharp enough to have opinions."""
    torch.manual_seed(seed)
    config = small_config(tokenizer)
    model = Transformer(config.model)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(2.0)
    save_model(directory, model, tokenizer, config, pair, "# A model\n")
    return directory


def normalizing_tokenizer():
    """A vocabulary like those of other programs: it normalizes text, and has no bytes for unknown characters."""
    from sentencepiece import SentencePieceTrainer

    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(sentences(400, 1)), model_writer=model, vocab_size=60,
        normalization_rule_name="nmt_nfkc", hard_vocab_limit=False, unk_id=0, eos_id=1, bos_id=-1,
        num_threads=1, minloglevel=3,
    )  # fmt: skip
    return Tokenizer(model.getvalue())


PAIRS = (("en", "de"), ("en", "fr"), ("de", "en"))


def write_several(directory):
    """Write a model of three pairs of languages with random weights, whose vocabulary has symbols."""
    lines = [side for text in sentences(400, 1) for side in (text, translate_words(text))]
    model = learn_model(lines, TextConfig(vocab_size=341), ["de", "en", "fr"])
    tokenizer = Tokenizer(model)
    loaded = load_model(write_random_model(directory, tokenizer))
    config = small_config(tokenizer)
    save_model(directory, loaded.network, tokenizer, config, PAIRS[0], "# A model\n", PAIRS)
    return directory
