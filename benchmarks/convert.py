"""Convert a Headway model with the paper's architecture to a CTranslate2 model directory.

The conversion is exact. CTranslate2 supports post-norm, a stored table of interleaved sinusoids,
embeddings scaled by sqrt(d_model), and a decoder that starts from the zero vector. The script reads only
files and does not import Headway:  python convert.py MODEL SUBWORDS OUT
"""

import json
import sys
from pathlib import Path

import numpy as np
from ctranslate2.converters.utils import fuse_linear
from ctranslate2.specs import common_spec, transformer_spec
from numpy.typing import NDArray
from safetensors.numpy import load_file

POSITIONS = 1024
Weights = dict[str, NDArray[np.float32]]
EXPECTED = {
    "norm": "post",
    "activation": "relu",
    "positions": "sinusoidal",
    "tying": "three-way",
    "scale_embeddings": True,
    "scale_logits": False,
    "output_bias": False,
    "attention_bias": False,
    "encoder_mixer": "attention",
    "decoder_mixer": "attention",
    "compatibility": "dot",
    "window": 0,
    "d_embedding": 0,
    "d_k": 0,
    "d_v": 0,
}


def convert(model: Path, subwords: Path, out: Path) -> None:
    """Write the CTranslate2 model directory ``out``.

    Args:
        model: A run or model directory.
        subwords: A file with a JSON list of the vocabulary's subwords, ``<pad>`` last.
        out: The directory to create.
    """
    shape = json.loads((model / "config.json").read_text(encoding="utf-8"))["settings"]["model"]
    other = {name: shape[name] for name, value in EXPECTED.items() if shape[name] != value}
    if other or shape["num_encoder_layers"] != shape["num_decoder_layers"]:
        raise SystemExit(f"{model}: not the paper's architecture: {other}")
    weights = load_file(model / "model.safetensors")
    table = weights["source_embedding.weight"]
    layers = shape["num_encoder_layers"]
    spec = transformer_spec.TransformerSpec.from_config(
        (layers, layers),
        shape["num_heads"],
        pre_norm=False,
        activation=common_spec.Activation.RELU,
        alignment_layer=-1,
        alignment_heads=0,
    )
    spec.config.layer_norm_epsilon = shape["norm_epsilon"]
    spec.config.add_source_eos = False  # the sentences already end with </s>
    spec.decoder.start_from_zero_embedding = True
    for name, side in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        embeddings = side.embeddings[0] if name == "encoder" else side.embeddings
        embeddings.weight = table
        side.scale_embeddings = True
        side.position_encodings.encodings = sinusoids(POSITIONS + 2, shape["d_model"])
        for number, layer in enumerate(side.layer):
            set_layer(layer, weights, f"{name}.layers.{number}.")
    spec.decoder.projection.weight = table
    vocabulary = read_subwords(subwords)
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    spec.validate()
    spec.optimize()
    out.mkdir(parents=True, exist_ok=True)
    spec.save(str(out))


def read_subwords(path: Path) -> list[str]:
    """Read the vocabulary."""
    return json.loads(path.read_text(encoding="utf-8"))


def set_layer(
    layer: transformer_spec.TransformerDecoderLayerSpec, weights: Weights, prefix: str
) -> None:
    """Copy the weights of one layer; an encoder layer has no cross-attention."""
    own = read_attention(weights, f"{prefix}mixer.attention.")
    fuse_linear(layer.self_attention.linear[0], own[:3])
    copy(layer.self_attention.linear[1], own[3])
    set_norm(layer.self_attention.layer_norm, weights, f"{prefix}residuals.0.norm.")
    last = 1
    if f"{prefix}cross.query.weight" in weights:
        cross = read_attention(weights, f"{prefix}cross.")
        copy(layer.attention.linear[0], cross[0])
        fuse_linear(layer.attention.linear[1], cross[1:3])
        copy(layer.attention.linear[2], cross[3])
        set_norm(layer.attention.layer_norm, weights, f"{prefix}residuals.1.norm.")
        last = 2
    for inner, name in ((layer.ffn.linear_0, "inner"), (layer.ffn.linear_1, "outer")):
        copy(inner, read_linear(weights, f"{prefix}feed_forward.{name}."))
    set_norm(layer.ffn.layer_norm, weights, f"{prefix}residuals.{last}.norm.")


def read_attention(weights: Weights, prefix: str) -> list[common_spec.LinearSpec]:
    """Return query, key, value and output maps."""
    return [
        read_linear(weights, f"{prefix}{name}.") for name in ("query", "key", "value", "output")
    ]


def read_linear(weights: Weights, prefix: str) -> common_spec.LinearSpec:
    """Return one linear map; a missing bias becomes zeros."""
    spec = common_spec.LinearSpec()
    spec.weight = weights[f"{prefix}weight"]
    spec.bias = weights.get(f"{prefix}bias", np.zeros(len(spec.weight), np.float32))
    return spec


def copy(target: common_spec.LinearSpec, source: common_spec.LinearSpec) -> None:
    """Fill a linear map from another."""
    target.weight, target.bias = source.weight, source.bias


def set_norm(norm: common_spec.LayerNormSpec, weights: Weights, prefix: str) -> None:
    """Fill a layer norm."""
    norm.gamma, norm.beta = weights[f"{prefix}weight"], weights[f"{prefix}bias"]


def sinusoids(length: int, width: int) -> NDArray[np.float32]:
    """Return the table of the paper's position encodings, with alternating sines and cosines."""
    rate = 10000 ** (-np.arange(0, width, 2) / width)
    angle = np.arange(length)[:, None] * rate
    return np.stack((np.sin(angle), np.cos(angle)), -1).reshape(length, width).astype(np.float32)


if __name__ == "__main__":
    convert(*(Path(word) for word in sys.argv[1:4]))
