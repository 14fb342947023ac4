"""The variables of CTranslate2 as the settings and weights of a Headway model.

A variable of a part that Headway does not have is rejected by its name. Ids keep their order here;
`headway.ext.exchange.tables` puts them into Headway's.

Shapes: V vocabulary, D d_model, P positions.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from headway.config import MAX_WIDTH, ModelConfig, from_dict
from headway.errors import HeadwayError
from headway.ext.exchange.ctranslate2.variables import (
    ACTIVATIONS,
    MIN_POSITIONS,
    TABLES,
    Variables,
)
from headway.ext.exchange.parts import list_parts
from headway.ext.exchange.tables import Tables, find_positions
from headway.model import make_model_without_memory


def read_tables(variables: Variables, entries: Mapping[str, int]) -> Tables:
    """Return the embeddings of source and target and the output matrix, [V, D].

    Args:
        variables: Of the model.
        entries: The number of entries of the vocabulary of ``source`` and of ``target``.

    Raises:
        HeadwayError: If a table is missing, or has another shape.
    """
    first = variables.find("encoder/embeddings_0/weight")
    width = 0 if first is None else min(MAX_WIDTH, sum(first.shape[1:]))
    source, target, output = (
        variables.get(name, (entries[side], width)) for name, side in TABLES.items()
    )
    return source, target, output


def read_layers(
    variables: Variables, settings: Mapping[str, Any], source: Tensor, target: Tensor
) -> tuple[ModelConfig, dict[str, Tensor]]:
    """Return the settings and the weights of a Headway model, without its tables.

    Args:
        variables: Of the model.
        settings: The content of ``config.json``.
        source: The embeddings of the source, [V, D].
        target: Those of the target.

    Raises:
        HeadwayError: Naming what a Headway model does not have.
    """
    file, stored, d_model = variables.file, variables.stored, source.size(1)
    side, other = (_read_stack(variables, name, d_model) for name in ("encoder", "decoder"))
    if different := [f"{n} = {side[n]} and {other[n]}" for n in side if side[n] != other[n]]:
        raise HeadwayError(f"{file}: encoder and decoder differ: {', '.join(different)}")
    tables = _read_positions(variables, d_model)
    positions, learned = find_positions(tables, 2e-6)
    epsilon = settings.get("layer_norm_epsilon")
    shape = side | {
        "source_vocab_size": len(source),
        "target_vocab_size": len(target),
        "tying": "none",
        "num_encoder_layers": _count_layers(variables, "encoder"),
        "num_decoder_layers": _count_layers(variables, "decoder"),
        "d_model": d_model,
        "d_ff": sum(stored["encoder/layer_0/ffn/linear_0/weight"].shape[:1]),
        "norm_epsilon": 1e-5 if epsilon is None else epsilon,
        "attention_bias": any("attention/linear" in n and n.endswith("/bias") for n in stored),
        "positions": positions,
        "max_positions": len(tables[0]),
        "scale_logits": _is_scaled(variables, "decoder/scale_outputs", d_model**-0.5),
    }
    config = from_dict({"model": shape}, str(file.parent)).model
    weights = learned | _read_parts(variables, config)
    variables.check_all_used()
    return config, weights


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
    if not _count_layers(variables, side):
        raise HeadwayError(f"{file}: {side} has no layers")
    heads = int(variables.get_number(f"{side}/num_heads"))
    names = {number: name for name, number in ACTIVATIONS.items()}
    activation = int(variables.get_number(f"{side}/activation", 0))
    if activation not in names:
        raise HeadwayError(f"{file}: {side}/activation = {activation}: unknown to Headway")
    width = int(variables.get_number(f"{side}/layer_0/self_attention/head_dim", 0))
    width = 0 if width * heads == d_model else width  # 0 is d_model / num_heads
    # The scale of embeddings is a flag (int8) or the factor itself; missing means yes.
    scale = f"{side}/scale_embeddings"
    value = variables.find(scale)
    is_flag = value is None or value.dtype == torch.int8
    return {
        "num_heads": heads,
        "d_k": width,
        "d_v": width,
        "norm": "pre" if variables.get_number(f"{side}/pre_norm", 1) else "post",
        "activation": names[activation],
        "scale_embeddings": bool(variables.get_number(scale, 1.0))
        if is_flag
        else _is_scaled(variables, scale, d_model**0.5),
    }


def _count_layers(variables: Variables, side: str) -> int:
    count = 0
    while f"{side}/layer_{count}/ffn/linear_0/weight" in variables.stored:
        count += 1
    return count


def _read_positions(variables: Variables, d_model: int) -> list[Tensor]:
    """Return the tables of source and target, each [P, D], as they are stored: the numbers in 16 bits tell sinusoids, too.

    Raises:
        HeadwayError: If a table has another width than the model.
    """
    stored = [
        variables.find(f"{side}/position_encodings/encodings") for side in ("encoder", "decoder")
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


def _read_parts(variables: Variables, config: ModelConfig) -> dict[str, Tensor]:
    """Return the weights of both stacks; another scale of compatibilities than 1 / sqrt(d_k) goes into the queries."""
    state = make_model_without_memory(config).state_dict()
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    weights: dict[str, Tensor] = {}
    for part in list_parts(config):
        kinds = {"weight": "gamma", "bias": "beta"} if part.is_norm else {"weight": "", "bias": ""}
        for kind, other in kinds.items():
            names = [name for ours in part.ours if (name := f"{ours}.{kind}") in shapes]
            theirs = f"{part.ctranslate2}/{other or kind}"
            rows = [shapes[name][0] for name in names]
            if not names or (other == "" and kind == "bias" and variables.find(theirs) is None):
                weights |= {name: torch.zeros(shapes[name]) for name in names}
                continue
            joined = variables.get(theirs, (sum(rows), *shapes[names[0]][1:]))
            weights |= zip(names, joined.split(rows), strict=True)
        query = next((name for name in part.ours if name.endswith(".query")), "")
        scale = _query_scale(variables, part.ctranslate2, config) if query else 1.0
        if scale != 1.0:
            weights |= {n: w * scale for n, w in weights.items() if n.startswith(f"{query}.")}
    return weights


def _query_scale(variables: Variables, query: str, config: ModelConfig) -> float:
    """Return the factor that gives an attention's queries the scale that the file has for compatibilities."""
    width, attention = config.head_widths[0], query.rpartition("/")[0]
    if variables.get_number(f"{attention}/head_dim", width) != width:
        raise HeadwayError(f"{variables.file}: {attention}/head_dim must be {width}, as before")
    scale = variables.get_number(f"{attention}/queries_scale", width**-0.5) * width**0.5
    return scale if abs(scale - 1) > 1e-6 else 1.0
