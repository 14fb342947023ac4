"""Random models of many settings, for tests of exports, and changes of their files."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from headway.config import Config, ModelConfig, TextConfig
from headway.model import Transformer
from headway.text.tokenizer import Tokenizer
from headway.translation.directory import Model, load_model, save_model

SMALL = ModelConfig(
    num_encoder_layers=2,
    num_decoder_layers=3,
    d_model=24,
    d_ff=37,
    num_heads=3,
    dropout=0.0,
    max_positions=131,
)
# Each differs from the paper's model in a setting that exports must treat.
SHAPES: dict[str, ModelConfig] = {
    "paper": SMALL,
    "pre-norm": replace(SMALL, norm="pre", activation="swish"),
    "untied": replace(SMALL, tying="none", output_bias=True, attention_bias=True),
    "two vocabularies": replace(SMALL, tying="target", activation="gelu"),
    "learned positions": replace(SMALL, positions="learned", norm="pre"),
    "narrow embeddings": replace(SMALL, d_embedding=11, output_bias=True),
    "odd heads": replace(SMALL, d_k=5, d_v=7, attention_bias=True),
    "unscaled": replace(
        SMALL, scale_attention=False, scale_embeddings=False, scale_logits=True, tying="none"
    ),
    "no positions": replace(SMALL, positions="none", feed_forward="convolution", norm_epsilon=1e-3),
}


def random_model(
    directory: Path, tokenizer: Tokenizer, shape: ModelConfig, seed: int = 5, sharp: float = 2.0
) -> Model:
    """Save and load a model with random weights, biases and norms."""
    torch.manual_seed(seed)
    shape = replace(
        shape,
        source_vocab_size=tokenizer.source_vocab_size,
        target_vocab_size=tokenizer.target_vocab_size,
    )
    model = Transformer(shape)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1 and "table" not in name:
                parameter.mul_(sharp)
            elif "norm" in name or name.endswith("bias"):
                parameter.add_(torch.randn_like(parameter) * 0.3)
    config = Config(model=shape, text=TextConfig(max_tokens=min(256, shape.max_positions)))
    save_model(directory, model, tokenizer, config, ("en", "de"), "# A model\n")
    return load_model(directory)


def change_json(file: Path, **values: Any) -> None:
    """Set fields of an object in a JSON file."""
    stored = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(stored | values), encoding="utf-8")
