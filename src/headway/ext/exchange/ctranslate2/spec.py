"""A Headway Transformer as a specification of CTranslate2, which CTranslate2 itself writes to disk.

CTranslate2 has one matrix for each embedding, and one width for all heads. So embeddings of another
width than the model are multiplied out, and heads are padded with zeros.

Shapes: V vocabulary, D d_model, H heads, K d_k.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.config import Activation, ModelConfig
from headway.ext.exchange.optional_package import import_package
from headway.ext.exchange.tables import embedding_table, output_table
from headway.model import (
    Layer,
    MultiHeadAttention,
    Positions,
    Residual,
    SelfAttention,
    Transformer,
    sinusoids,
)

if TYPE_CHECKING:
    from ctranslate2.specs import TransformerSpec
    from ctranslate2.specs.attention_spec import MultiHeadAttentionSpec
    from ctranslate2.specs.common_spec import LayerNormSpec, LinearSpec
    from ctranslate2.specs.transformer_spec import TransformerEncoderLayerSpec as LayerSpec

MIN_POSITIONS = 1026  # CTranslate2 limits a text to 1,024 tokens by default
ACTIVATIONS: dict[Activation, int] = {
    "relu": 0,
    "swish": 2,
    "gelu": 3,
}  # 1 is an approximation of gelu


@torch.no_grad()
def build_spec(model: Transformer) -> "TransformerSpec":
    """Return a `ctranslate2.specs.TransformerSpec` with the model's weights, in fp32.

    Args:
        model: A model that `headway.ext.exchange.ctranslate2.writer.find_refusals` accepts.
    """
    specs = import_package("ctranslate2").specs
    config = model.config
    head_width = max(config.head_widths)
    shape = {
        "num_heads": config.num_heads,
        "pre_norm": config.norm == "pre",
        "activation": ACTIVATIONS[config.activation],
        "head_dim": None if head_width * config.num_heads == config.d_model else head_width,
    }
    encoder = specs.transformer_spec.TransformerEncoderSpec(config.num_encoder_layers, **shape)
    decoder = specs.transformer_spec.TransformerDecoderSpec(
        config.num_decoder_layers,
        alignment_heads=0,  # alignments are the mean of all heads
        **shape,
    )
    encoder.embeddings[0].weight = embedding_table(model.source_embedding)
    decoder.embeddings.weight = embedding_table(model.target_table)
    # The decoder starts from the row of <pad>. Headway's own models have zeros there; an imported one may have other numbers.
    decoder.start_from_zero_embedding = not decoder.embeddings.weight[-1].any()
    decoder.projection.weight = output_table(model)
    if model.output.bias is not None:
        decoder.projection.bias = _copy(model.output.bias)
    if config.scale_logits:
        decoder.scale_outputs = model.output.scale
    for side, positions, stack in (
        (encoder, model.source_positions, model.encoder),
        (decoder, model.target_positions, model.decoder),
    ):
        side.scale_embeddings = config.scale_embeddings
        side.position_encodings.encodings = _position_table(positions, config)
        if stack.final_norm is not None:
            _set_norm(side.layer_norm, stack.final_norm)
        for spec, layer in zip(side.layer, stack.layers, strict=True):
            _set_layer(spec, layer, config)
    return specs.TransformerSpec(encoder, decoder)


def write_weights(
    model: Transformer,
    out: Path,
    entries: tuple[Sequence[str], Sequence[str]],
    precision: str,
    *,
    symbol: str = "",
    adds_eos: bool,
) -> None:
    """Write a model that CTranslate2 loads, without a tokenizer.

    Args:
        model: As for `build_spec`.
        out: A directory that does not exist yet.
        entries: The vocabularies of source and target in the order of the ids, ``<pad>`` last.
        precision: Of the stored weights.
        symbol: An entry that CTranslate2 puts before each source.
        adds_eos: Whether CTranslate2 puts ``</s>`` behind each source.
    """
    spec, (source, target) = build_spec(model), entries
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.unk_token, spec.config.eos_token = "<unk>", "</s>"
    spec.config.decoder_start_token = target[-1]
    spec.config.bos_token, spec.config.add_source_bos = symbol or target[-1], bool(symbol)
    spec.config.add_source_eos = adds_eos
    spec.config.layer_norm_epsilon = model.config.norm_epsilon
    spec.validate()
    spec.optimize(quantization=precision)
    out.mkdir()
    spec.save(str(out))


def _copy(tensor: Tensor) -> Tensor:
    """Copy a tensor: CTranslate2 rounds weights in place."""
    return tensor.detach().cpu().clone()


def _position_table(positions: Positions, config: ModelConfig) -> Tensor:
    """Return the table to store; CTranslate2's own sinusoids are not the paper's."""
    if positions.kind == "learned":
        return _copy(positions.table)
    rows = max(MIN_POSITIONS, config.max_positions)
    if positions.kind == "none":
        return torch.zeros(rows, config.d_model)
    return _copy(sinusoids(rows, config.d_model))


def _set_layer(spec: "LayerSpec", layer: Layer, config: ModelConfig) -> None:
    norms = [cast("Residual", residual).norm for residual in layer.residuals]
    own = cast("SelfAttention", layer.mixer).attention
    _set_attention(spec.self_attention, [own.query, own.key, own.value], own, config)
    _set_norm(spec.self_attention.layer_norm, norms[0])
    if layer.cross is not None:
        cross = layer.cross
        _set_attention(spec.attention, [cross.key, cross.value], cross, config)
        _set_norm(spec.attention.layer_norm, norms[1])
    _set_linear(spec.ffn.linear_0, layer.feed_forward.inner)
    _set_linear(spec.ffn.linear_1, layer.feed_forward.outer)
    _set_norm(spec.ffn.layer_norm, norms[-1])


def _set_norm(spec: "LayerNormSpec", norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _copy(norm.weight), _copy(norm.bias)


def _set_linear(spec: "LinearSpec", linear: nn.Linear) -> None:
    spec.weight = _copy(linear.weight)
    if linear.bias is not None:
        spec.bias = _copy(linear.bias)


def _set_attention(
    spec: "MultiHeadAttentionSpec",
    fused: list[nn.Linear],
    attention: MultiHeadAttention,
    config: ModelConfig,
) -> None:
    """Set an attention's projections; CTranslate2 fuses those that read the same input.

    Args:
        spec: Of the attention.
        fused: The projections that read the same input.
        attention: The attention itself.
        config: Of the model.
    """
    d_k, d_v = config.head_widths
    width = max(d_k, d_v)
    if attention.query not in fused:
        _set_projections(spec.linear[0], [attention.query], config)
    _set_projections(spec.linear[-2], fused, config)
    heads = attention.output.weight.unflatten(1, (config.num_heads, d_v))
    spec.linear[-1].weight = _copy(F.pad(heads, (0, width - d_v)).flatten(1))
    if attention.output.bias is not None:
        spec.linear[-1].bias = _copy(attention.output.bias)
    scale = d_k**-0.5 if config.scale_attention else 1.0
    if scale != width**-0.5 or width * config.num_heads != config.d_model:
        spec.queries_scale = scale


def _set_projections(spec: "LinearSpec", linears: list[nn.Linear], config: ModelConfig) -> None:
    """Stack projections, each head padded with zeros to one width."""
    heads, width = config.num_heads, max(config.head_widths)
    weights, biases = [], []
    for linear in linears:
        weight = linear.weight.unflatten(0, (heads, -1))
        missing = width - weight.size(1)
        weights.append(F.pad(weight, (0, 0, 0, missing)).flatten(0, 1))
        if linear.bias is not None:
            biases.append(F.pad(linear.bias.unflatten(0, (heads, -1)), (0, missing)).flatten())
    spec.weight = torch.cat(weights).cpu()
    if biases:
        spec.bias = torch.cat(biases).cpu()
