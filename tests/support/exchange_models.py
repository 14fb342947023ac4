"""Random models of many settings, for tests of exports, and changes of their files."""

import json
from dataclasses import replace
from pathlib import Path

import torch

from headway.config import Config, ModelConfig, SearchConfig, TextConfig
from headway.model import Transformer
from headway.translation.directory import Model, load_model, save_model
from support.cases import read_rows

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
CHANGES = read_rows(__file__, "CHANGES")
SHAPES = {name: replace(SMALL, **changes) for name, changes in CHANGES.items()}


DECIDED = replace(SMALL, num_decoder_layers=2, max_positions=ModelConfig().max_positions)
# Settings that Marian expresses exactly, as changes of a small model.
EXACT = read_rows(__file__, "EXACT")
# Settings that Marian cannot express.
REFUSED_BY_MARIAN = read_rows(__file__, "REFUSED_BY_MARIAN")


def make_model(tokenizer, shape=DECIDED, seed=7, sharp=2.0, kept="embedding", **changes):
    """Return a model of large random weights, biases and norms, so that its translations are decided."""
    torch.manual_seed(seed)
    sizes = (tokenizer.source_vocab_size, tokenizer.target_vocab_size)
    shape = replace(
        shape, **{"source_vocab_size": sizes[0], "target_vocab_size": sizes[1], **changes}
    )
    network = Transformer(shape).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.dim() > 1 and kept not in name:
                parameter.mul_(sharp)
            elif "norm" in name or name.endswith("bias"):
                parameter.add_(torch.randn_like(parameter) * 0.3)
    # Random models rarely generate </s>.
    config = Config(
        model=shape,
        text=TextConfig(max_tokens=min(256, shape.max_positions)),
        search=SearchConfig(max_extra=5),
    )
    return Model(network, tokenizer, config, ("en", "de"), Path("nowhere"))


def random_model(directory, tokenizer, shape, seed=5, sharp=2.0):
    """Save and load such a model, which searches with the usual settings."""
    made = make_model(tokenizer, shape, seed, sharp, kept="table")
    config = replace(made.config, search=SearchConfig())
    save_model(directory, made.network, tokenizer, config, ("en", "de"), "# A model\n")
    return load_model(directory)


def change_json(file, **values):
    """Set fields of an object in a JSON file."""
    stored = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(stored | values), encoding="utf-8")
