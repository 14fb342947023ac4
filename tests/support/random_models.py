"""Models of random weights that need no training."""

from pathlib import Path
from typing import Any

import torch

from headway.config import Config, ModelConfig, SearchConfig
from headway.model import Transformer
from headway.text.tokenizer import Tokenizer
from headway.translation.directory import Model

# Settings that Marian expresses exactly, as changes of a small model.
EXACT: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "biases": {"attention_bias": True, "output_bias": True, "activation": "swish"},
    "untied": {"tying": "none"},
    "target-tied": {"tying": "target", "activation": "gelu"},
    "learned positions": {"positions": "learned", "max_positions": 300},
    "no positions": {"positions": "none"},
    "scaled logits": {"scale_logits": True, "scale_embeddings": False},
    "narrow embeddings": {"d_embedding": 13},
    "unscaled attention": {"scale_attention": False},
    "convolution": {"feed_forward": "convolution"},
    "no encoder layers": {"num_encoder_layers": 0},
}


# Settings that Marian cannot express.
REFUSED_BY_MARIAN: dict[str, dict[str, Any]] = {
    "norm": {"norm": "pre"},
    "norm_epsilon": {"norm_epsilon": 1e-6},
    "encoder_mixer": {"encoder_mixer": "lstm"},
    "decoder_mixer": {"decoder_mixer": "convolution"},
    "compatibility": {"compatibility": "additive"},
    "window": {"window": 3},
    "d_k": {"d_k": 5, "d_v": 8},
    "num_decoder_layers": {"num_decoder_layers": 0, "scale_logits": True},
}


def make_model(tokenizer: Tokenizer, **changes: Any) -> Model:
    """Return a model of large random weights, so that its translations are decided."""
    torch.manual_seed(7)
    shape = {
        "source_vocab_size": tokenizer.source_vocab_size,
        "target_vocab_size": tokenizer.target_vocab_size,
        "num_encoder_layers": 2,
        "num_decoder_layers": 2,
        "d_model": 24,
        "d_ff": 37,
        "num_heads": 3,
    }
    search = SearchConfig(max_extra=5)  # random models rarely generate </s>
    config = Config(model=ModelConfig(**{**shape, **changes}), search=search)
    model = Transformer(config.model)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if value.dim() > 1:
                value.mul_(1.0 if "embedding" in name else 2.0)
            else:
                value.add_(0.3 * torch.randn_like(value))
    return Model(model.eval(), tokenizer, config, ("en", "de"), Path("nowhere"))
