"""Reading Marian directories of Hugging Face transformers, such as the OPUS-MT models."""

from pathlib import Path

from headway.config import Config, TextConfig
from headway.errors import HeadwayError
from headway.ext.exchange.huggingface.entries import make_tokenizer, read_orders
from headway.ext.exchange.huggingface.settings import (
    find_languages,
    read_flag,
    read_search,
    read_shape,
)
from headway.ext.exchange.huggingface.weights import expected_shapes, find_tables, from_marian
from headway.ext.exchange.imported_model import build_model
from headway.ext.exchange.json_file import read_json_object, read_optional_json_object
from headway.ext.exchange.weights_file import read_weights
from headway.translation import Model, StoredConfig

WEIGHTS = ("model.safetensors", "pytorch_model.bin")


def read(path: Path) -> Model:
    """Read a Marian directory: of OPUS-MT, old or new, or an export of Headway.

    Raises:
        HeadwayError: Naming the file that is missing or damaged, or the setting that Headway does
            not support.
    """
    if not path.is_dir():
        raise HeadwayError(f"{path}: not a directory of Hugging Face transformers")
    file = path / "config.json"
    values = read_json_object(file)
    if values.get("model_type") != "marian":
        raise HeadwayError(
            f"{file}: model_type = {values.get('model_type')!r:.40} must be 'marian'"
        )
    is_shared = read_flag(values, "share_encoder_decoder_embeddings", file)
    is_tied = read_flag(values, "tie_word_embeddings", file)
    shape = read_shape(values, file)
    about = read_optional_json_object(path / "tokenizer_config.json")
    sizes = shape.source_vocab_size, shape.target_vocab_size
    is_separate = about.get("separate_vocabs") is True
    orders = read_orders(path, values, sizes, is_separate=is_separate)
    tokenizer, subwords = make_tokenizer(path, orders)
    weights_file = next((path / name for name in WEIGHTS if (path / name).is_file()), None)
    if weights_file is None:
        raise HeadwayError(f"{path}: no {' and no '.join(WEIGHTS)}")
    weights = read_weights(weights_file, *expected_shapes(shape))
    tables = find_tables(weights, is_shared=is_shared, is_tied=is_tied, file=weights_file)
    shape, own = from_marian(shape, weights, tables, orders)
    text = TextConfig(
        vocab_size=shape.target_vocab_size,
        joint_vocab=tokenizer.joint,
        subwords=subwords,
        max_tokens=min(TextConfig().max_tokens, shape.max_positions),
    )
    config = Config(text=text, model=shape, search=read_search(path, values))
    facts = StoredConfig(config, find_languages(values, about), (), "Marian")
    return build_model(path, tokenizer, facts, own, weights_file)
