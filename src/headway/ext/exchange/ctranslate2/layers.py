"""The variables of CTranslate2 as the settings and weights of a Headway model.

A variable of a part that Headway does not have is rejected by its name. Ids keep their order here;
`headway.ext.exchange.ctranslate2.entries` puts them into Headway's.

Shapes: V vocabulary, D d_model, P positions.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from headway.config import MAX_WIDTH, ModelConfig, from_dict
from headway.errors import HeadwayError
from headway.ext.exchange.ctranslate2.parts import (
    ACTIVATIONS,
    MIN_POSITIONS,
    TABLES,
    list_parts,
)
from headway.ext.exchange.ctranslate2.variables import Variables
from headway.ext.exchange.tables import find_positions, tie_tables


def convert_variables(
    stored: Mapping[str, Tensor],
    settings: Mapping[str, Any],
    entries: Mapping[str, int],
    file: Path,
) -> tuple[ModelConfig, dict[str, Tensor]]:
    """Return the settings and the weights of a Headway model.

    Args:
        stored: The result of `headway.ext.exchange.ctranslate2.binary.read_variables`.
        settings: The content of ``config.json``.
        entries: The number of entries of the vocabulary of ``source`` and of ``target``.
        file: The file of the variables, for messages.

    Raises:
        HeadwayError: Naming what a Headway model does not have.
    """
    variables = Variables(stored, file)
    # A rounded table takes four times its memory in fp32, so its sizes are checked before it is converted.
    d_model = _read_width(variables, entries)
    side, other = (_read_stack(variables, name, d_model) for name in ("encoder", "decoder"))
    if different := [f"{n} = {side[n]} and {other[n]}" for n in side if side[n] != other[n]]:
        raise HeadwayError(f"{file}: encoder and decoder differ: {', '.join(different)}")
    output_bias = variables.get_optional("decoder/projection/bias")
    tying, weights = tie_tables(*(variables.get(name) for name in TABLES))
    tables = _read_positions(variables, d_model)
    positions, learned = find_positions(tables, 2e-6)
    epsilon = settings.get("layer_norm_epsilon")
    shape = side | {
        "source_vocab_size": entries["source"],
        "target_vocab_size": entries["target"],
        "num_encoder_layers": variables.count_layers("encoder"),
        "num_decoder_layers": variables.count_layers("decoder"),
        "d_model": d_model,
        "d_ff": next(iter(variables.shape("encoder/layer_0/ffn/linear_0/weight")), 0),
        "norm_epsilon": 1e-5 if epsilon is None else epsilon,
        "attention_bias": any("attention/linear" in n and n.endswith("/bias") for n in stored),
        "positions": positions,
        "max_positions": len(tables[0]),
        "tying": tying,
        "scale_logits": _is_scaled(variables, "decoder/scale_outputs", d_model**-0.5),
        "output_bias": output_bias is not None,
    }
    config = from_dict({"model": shape}, str(file.parent)).model
    weights |= learned | _read_layers(variables, config)
    if output_bias is not None:
        weights["output.bias"] = output_bias
    variables.check_all_used()
    return config, weights


def _read_width(variables: Variables, entries: Mapping[str, int]) -> int:
    """Return D, after a check that all tables have that width and a row for each entry."""
    d_model = sum(variables.shape("encoder/embeddings_0/weight")[1:])
    for name, side in TABLES.items():
        if (shape := variables.shape(name)) != (entries[side], d_model) or d_model > MAX_WIDTH:
            raise HeadwayError(
                f"{variables.file}: {name} is {shape}: it must have a row for each of"
                f" {entries[side]} entries, and all such tables one width, at most {MAX_WIDTH:,}"
            )
    return d_model


def _is_scaled(variables: Variables, name: str, factor: float) -> bool:
    """Return whether a variable holds a factor, and not 1.

    Raises:
        HeadwayError: If it holds another number.
    """
    value = variables.get_number(name, 1.0)
    if value != 1.0 and abs(value / factor - 1) > 1e-6:
        raise HeadwayError(f"{variables.file}: {name} = {value}: Headway has {factor:g} or 1")
    return value != 1.0


def _read_stack(variables: Variables, side: str, d_model: int) -> dict[str, Any]:
    """Return the settings that hold for all layers of the encoder or of the decoder."""
    file = variables.file
    if not variables.count_layers(side):
        raise HeadwayError(f"{file}: {side} has no layers")
    heads = int(variables.get_number(f"{side}/num_heads"))
    names = {number: name for name, number in ACTIVATIONS.items()}
    activation = int(variables.get_number(f"{side}/activation", 0))
    if activation not in names:
        raise HeadwayError(f"{file}: {side}/activation = {activation}: unknown to Headway")
    width = int(variables.get_number(f"{side}/layer_0/self_attention/head_dim", 0))
    width = 0 if width * heads == d_model else width  # 0 is d_model / num_heads
    return {
        "num_heads": heads,
        "d_k": width,
        "d_v": width,
        "norm": "pre" if variables.get_number(f"{side}/pre_norm", 1) else "post",
        "activation": names[activation],
        "scale_embeddings": _has_scaled_embeddings(variables, side, d_model),
    }


def _has_scaled_embeddings(variables: Variables, side: str, d_model: int) -> bool:
    """Read ``scale_embeddings``, which is a flag (int8) or the factor itself; missing means yes."""
    name = f"{side}/scale_embeddings"
    if name not in variables.stored or variables.stored[name].dtype == torch.int8:
        return bool(variables.get_number(name, 1.0))
    return _is_scaled(variables, name, d_model**0.5)


def _read_positions(variables: Variables, d_model: int) -> list[Tensor]:
    """Return the tables of source and target, each [P, D], as they are stored: the numbers in 16 bits tell sinusoids, too.

    Raises:
        HeadwayError: If a table has another width than the model.
    """
    stored = [
        variables.get_as_stored(f"{side}/position_encodings/encodings")
        for side in ("encoder", "decoder")
    ]
    tables = [
        tensor2tensor_sinusoids(MIN_POSITIONS, d_model) if table is None else table
        for table in stored
    ]
    if any(table.dim() != 2 or table.size(1) != d_model for table in tables):
        raise HeadwayError(f"{variables.file}: position tables must have {d_model} columns")
    rows = min(map(len, tables))
    return [table[:rows] for table in tables]


def tensor2tensor_sinusoids(length: int, d_model: int) -> Tensor:
    """Return the table that CTranslate2 uses if none is stored: all sines first, from position 1."""
    half = d_model // 2
    rate = 10000 ** (-torch.arange(half, dtype=torch.float64) / max(half - 1, 1))
    angle = torch.arange(1, length + 1, dtype=torch.float64)[:, None] * rate
    table = torch.cat((angle.sin(), angle.cos()), 1).float()
    return torch.nn.functional.pad(table, (0, d_model - 2 * half))


def _read_layers(variables: Variables, config: ModelConfig) -> dict[str, Tensor]:
    """Return the weights of both stacks; another scale of compatibilities than 1 / sqrt(d_k) goes into the queries."""
    weights: dict[str, Tensor] = {}
    for part in list_parts(config):
        if part.is_norm:
            weights[f"{part.ours[0]}.weight"] = variables.get(f"{part.theirs}/gamma")
            weights[f"{part.ours[0]}.bias"] = variables.get(f"{part.theirs}/beta")
            continue
        weight = variables.get(f"{part.theirs}/weight")
        bias = variables.get_optional(f"{part.theirs}/bias")
        tensors = {"weight": weight}
        if config.attention_bias or not part.is_attention:
            tensors["bias"] = torch.zeros(weight.shape[:1]) if bias is None else bias
        for kind, tensor in tensors.items():
            if tensor.dim() != 2 - (kind == "bias") or len(tensor) % len(part.ours):
                raise HeadwayError(
                    f"{variables.file}: {part.theirs}/{kind} is {tuple(tensor.shape)}, which"
                    f" {len(part.ours)} projections cannot share"
                )
            chunks = [chunk.clone() for chunk in tensor.chunk(len(part.ours))]
            if part.ours[0].endswith(".query"):
                chunks[0] *= _query_scale(variables, part.theirs.rpartition("/")[0], config)
            weights |= {f"{o}.{kind}": chunk for o, chunk in zip(part.ours, chunks, strict=True)}
    return weights


def _query_scale(variables: Variables, attention: str, config: ModelConfig) -> float:
    """Return the factor that gives an attention's queries the scale that the file has for compatibilities."""
    width = config.head_widths[0]
    if variables.get_number(f"{attention}/head_dim", width) != width:
        raise HeadwayError(f"{variables.file}: {attention}/head_dim must be {width}, as before")
    scale = variables.get_number(f"{attention}/queries_scale", width**-0.5) * width**0.5
    return scale if abs(scale - 1) > 1e-6 else 1.0
