"""A Headway Transformer as a specification of CTranslate2, which CTranslate2 itself writes to disk.

CTranslate2 has one matrix for each embedding, and one width for all heads. So embeddings of another
width than the model are multiplied out, and heads are padded with zeros.

Shapes: V vocabulary, D d_model, H heads, K d_k.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F

from headway.config import ModelConfig
from headway.errors import require_packages
from headway.ext.exchange.ctranslate2.variables import ACTIVATIONS, MIN_POSITIONS, TABLES
from headway.ext.exchange.parts import Part, list_parts
from headway.ext.exchange.tables import copy_tables
from headway.model import Transformer, sinusoids

if TYPE_CHECKING:
    from ctranslate2.specs import TransformerSpec


def build_spec(model: Transformer) -> "TransformerSpec":
    """Return a `ctranslate2.specs.TransformerSpec` with the model's weights, in fp32.

    Args:
        model: A model that `headway.ext.exchange.ctranslate2.writer.find_refusals` accepts.
    """
    require_packages("ctranslate2")
    from ctranslate2 import specs

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
    spec: TransformerSpec = specs.TransformerSpec(encoder, decoder)
    for name, value in to_variables(model).items():
        scope, _, attribute = name.rpartition("/")
        setattr(specs.model_spec.index_spec(spec, scope), attribute, value)
    return spec


@torch.no_grad()
def to_variables(model: Transformer) -> dict[str, Tensor | float]:
    """Return the variables of a model by CTranslate2's names, except those of its shape."""
    config, own = model.config, model.state_dict()
    tables = copy_tables(model)
    variables: dict[str, Tensor | float] = dict(zip(TABLES, tables, strict=True))
    # The decoder starts from the row of <pad>. Headway's own models have zeros there; an imported one may have other numbers.
    variables["decoder/start_from_zero_embedding"] = not tables[1][-1].any()
    if config.scale_logits:
        variables["decoder/scale_outputs"] = model.output.scale
    if config.output_bias:
        variables["decoder/projection/bias"] = _copy(own["output.bias"])
    for side, ours in (("encoder", "source"), ("decoder", "target")):
        variables[f"{side}/scale_embeddings"] = config.scale_embeddings
        learned = own.get(f"{ours}_positions.table")
        table = _position_table(config) if learned is None else _copy(learned)
        variables[f"{side}/position_encodings/encodings"] = table
    for part in list_parts(config):
        kinds = ("gamma", "beta") if part.is_norm else ("weight", "bias")
        for theirs, kind in zip(kinds, ("weight", "bias"), strict=True):
            tensors = [own[f"{name}.{kind}"] for name in part.ours if f"{name}.{kind}" in own]
            if tensors:
                variables[f"{part.ctranslate2}/{theirs}"] = _join(part, tensors, config)
    width = max(config.head_widths)
    scale = config.head_widths[0] ** -0.5 if config.scale_attention else 1.0
    if scale != width**-0.5 or width * config.num_heads != config.d_model:
        for part in list_parts(config):
            if part.ours[0].endswith(".query"):
                variables[f"{part.ctranslate2.rpartition('/')[0]}/queries_scale"] = scale
    return variables


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


def _position_table(config: ModelConfig) -> Tensor:
    """Return the table to store for positions that are not learned; CTranslate2's own sinusoids are not the paper's."""
    rows = max(MIN_POSITIONS, config.max_positions)
    if config.positions == "none":
        return torch.zeros(rows, config.d_model)
    return sinusoids(rows, config.d_model)


def _join(part: Part, tensors: Sequence[Tensor], config: ModelConfig) -> Tensor:
    """Join the rows of a part's maps, of weights or of biases; each head is padded with zeros to one width."""
    if part.is_attention and not part.ours[0].endswith(".output"):
        tensors = [_pad_heads(tensor, config) for tensor in tensors]
    elif part.is_attention and tensors[0].dim() == 2:
        tensors = [_pad_heads(tensors[0].T, config).T]
    return torch.cat([*tensors]).cpu()


def _pad_heads(tensor: Tensor, config: ModelConfig) -> Tensor:
    """Pad the rows of each head, [H * K, D] or [H * K]."""
    heads = tensor.unflatten(0, (config.num_heads, -1))
    missing = max(config.head_widths) - heads.size(1)
    return F.pad(heads, (0, 0) * (heads.dim() - 2) + (0, missing)).flatten(0, 1)
