"""The variables of CTranslate2 as the settings and weights of a Headway model.

A variable of a part that Headway does not have is rejected by its name. Ids keep their order here;
`headway.ext.exchange.ctranslate2.entries` puts them into Headway's.

Shapes: V vocabulary, D d_model, H heads, W width of a head.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from headway.config import MAX_WIDTH, Activation, ModelConfig
from headway.errors import HeadwayError
from headway.ext.exchange.ctranslate2.position_tables import read_positions
from headway.ext.exchange.ctranslate2.spec import ACTIVATIONS, MIN_POSITIONS
from headway.ext.exchange.ctranslate2.variables import Variables
from headway.ext.exchange.tables import tie_tables

# Names of the three tables [V, D], and whether V counts the source's or the target's vocabulary.
TABLES = {
    "encoder/embeddings_0/weight": "source",
    "decoder/embeddings/weight": "target",
    "decoder/projection/weight": "target",
}


@dataclass(frozen=True)
class StackSettings:
    """What holds for all layers of the encoder or of the decoder.

    Attributes:
        num_heads: H.
        head_width: W; 0 if it is D / H.
        norm: Where the layer norms are.
        activation: Of the feed-forward networks.
        scale_embeddings: Whether embeddings are multiplied by sqrt(D).
    """

    num_heads: int
    head_width: int
    norm: Literal["pre", "post"]
    activation: Activation
    scale_embeddings: bool


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
    if side != other:
        raise HeadwayError(f"{file}: encoder and decoder differ: {side} and {other}")
    source, target, output = (variables.get(name) for name in TABLES)
    output_bias = variables.get_optional("decoder/projection/bias")
    tying, weights = tie_tables(source, target, output)
    if output_bias is not None:
        weights["output.bias"] = output_bias
    positions, tables = read_positions(variables, d_model)
    if positions == "learned":
        weights |= {"source_positions.table": tables[0], "target_positions.table": tables[1]}
    layers = _read_layers(variables, side)
    has_attention_bias = any(
        name.endswith((".attention.query.bias", ".cross.query.bias")) for name in layers
    )
    if has_attention_bias:
        layers = _add_missing_biases(layers)
    inner = [value.size(0) for name, value in layers.items() if name.endswith("inner.weight")]
    norm_epsilon = _norm_epsilon(settings, file)
    scale_logits = _has_scaled_logits(variables, d_model)
    try:
        config = ModelConfig(
            source_vocab_size=source.size(0),
            target_vocab_size=target.size(0),
            num_encoder_layers=variables.count_layers("encoder"),
            num_decoder_layers=variables.count_layers("decoder"),
            d_model=d_model,
            d_ff=max(inner, default=1),
            num_heads=side.num_heads,
            d_k=side.head_width,
            d_v=side.head_width,
            norm=side.norm,
            norm_epsilon=norm_epsilon,
            activation=side.activation,
            attention_bias=has_attention_bias,
            positions=positions,
            max_positions=tables[0].size(0) if tables else MIN_POSITIONS,
            tying=tying,
            scale_embeddings=side.scale_embeddings,
            scale_logits=scale_logits,
            output_bias=output_bias is not None,
            dropout=0.1,
        )
    except HeadwayError as error:  # ModelConfig does not know the file
        raise HeadwayError(
            "\n".join(f"{file}: {line}" for line in str(error).splitlines())
        ) from None
    variables.check_all_used()
    return config, weights | layers


def _read_width(variables: Variables, entries: Mapping[str, int]) -> int:
    """Return D, after a check that all tables have that width and a row for each entry."""
    d_model = variables.shape("encoder/embeddings_0/weight")[-1:]
    for name, side in TABLES.items():
        shape = variables.shape(name)
        if len(shape) != 2 or shape[1:] != d_model:
            raise HeadwayError(
                f"{variables.file}: {name} is {shape}: embeddings must be matrices of one width"
            )
        if shape[0] != entries[side]:
            raise HeadwayError(
                f"{variables.file}: {shape[0]} {side} embeddings for {entries[side]} entries"
            )
    if d_model[0] > MAX_WIDTH:
        raise HeadwayError(
            f"{variables.file}: embeddings of width {d_model[0]}, at most {MAX_WIDTH:,} is possible"
        )
    return d_model[0]


def _norm_epsilon(settings: Mapping[str, Any], file: Path) -> float:
    value = settings.get("layer_norm_epsilon")
    if value is None:
        return 1e-5
    if not isinstance(value, float) or not 0 < value < 1:
        raise HeadwayError(
            f"{file.parent / 'config.json'}: layer_norm_epsilon = {value!r} must be between 0 and 1"
        )
    return value


def _has_scaled_logits(variables: Variables, d_model: int) -> bool:
    scale = variables.get_number("decoder/scale_outputs", 1.0)
    if scale != 1.0 and abs(scale - d_model**-0.5) > 1e-6:
        raise HeadwayError(
            f"{variables.file}: decoder/scale_outputs = {scale}: Headway has d_model^-0.5"
        )
    return scale != 1.0


def _read_stack(variables: Variables, side: str, d_model: int) -> StackSettings:
    file = variables.file
    if not variables.count_layers(side):
        raise HeadwayError(f"{file}: {side} has no layers")
    heads = int(variables.get_number(f"{side}/num_heads"))
    if not 0 < heads <= d_model:
        raise HeadwayError(f"{file}: {side}/num_heads = {heads} for d_model = {d_model}")
    names = {number: name for name, number in ACTIVATIONS.items()}
    activation = int(variables.get_number(f"{side}/activation", 0))
    if activation not in names:
        raise HeadwayError(f"{file}: {side}/activation = {activation}: unknown to Headway")
    width = int(variables.get_number(f"{side}/layer_0/self_attention/head_dim", d_model // heads))
    return StackSettings(
        num_heads=heads,
        head_width=0 if width * heads == d_model else width,
        norm="pre" if variables.get_number(f"{side}/pre_norm", 1) else "post",
        activation=names[activation],
        scale_embeddings=_has_scaled_embeddings(variables, side, d_model),
    )


def _has_scaled_embeddings(variables: Variables, side: str, d_model: int) -> bool:
    """Read ``scale_embeddings``, which is a flag (int8) or the factor itself; missing means yes."""
    name = f"{side}/scale_embeddings"
    stored = variables.stored.get(name)
    value = variables.get_number(name, 1.0)
    if stored is None or (stored.dtype == torch.int8 and value):
        return True
    if value in (0.0, 1.0):
        return False
    if abs(value / d_model**0.5 - 1) > 1e-6:
        raise HeadwayError(f"{variables.file}: {name} = {value}: Headway has sqrt(d_model)")
    return True


def _read_layers(variables: Variables, side: StackSettings) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = {}
    for name in ("encoder", "decoder"):
        if side.norm == "pre":
            weights |= _read_norm(variables, f"{name}/layer_norm", f"{name}.final_norm")
        for number in range(variables.count_layers(name)):
            scope, ours = f"{name}/layer_{number}", f"{name}.layers.{number}"
            weights |= _read_layer(variables, scope, ours, side)
    return weights


def _read_layer(
    variables: Variables, scope: str, ours: str, side: StackSettings
) -> dict[str, Tensor]:
    groups = [["query", "key", "value"], ["output"]]
    attention = f"{ours}.mixer.attention"
    weights = _read_attention(variables, f"{scope}/self_attention", attention, groups, side)
    norms = [f"{scope}/self_attention/layer_norm"]
    if scope.startswith("decoder"):
        groups = [["query"], ["key", "value"], ["output"]]
        weights |= _read_attention(variables, f"{scope}/attention", f"{ours}.cross", groups, side)
        norms.append(f"{scope}/attention/layer_norm")
    norms.append(f"{scope}/ffn/layer_norm")
    for number, norm in enumerate(norms):
        weights |= _read_norm(variables, norm, f"{ours}.residuals.{number}.norm")
    for theirs, name in (("linear_0", "inner"), ("linear_1", "outer")):
        weight = variables.get(f"{scope}/ffn/{theirs}/weight")
        bias = variables.get_optional(f"{scope}/ffn/{theirs}/bias")
        weights[f"{ours}.feed_forward.{name}.weight"] = weight
        weights[f"{ours}.feed_forward.{name}.bias"] = (
            torch.zeros(weight.size(0)) if bias is None else bias
        )
    return weights


def _read_norm(variables: Variables, theirs: str, ours: str) -> dict[str, Tensor]:
    return {
        f"{ours}.weight": variables.get(f"{theirs}/gamma"),
        f"{ours}.bias": variables.get(f"{theirs}/beta"),
    }


def _read_attention(
    variables: Variables, scope: str, ours: str, groups: list[list[str]], side: StackSettings
) -> dict[str, Tensor]:
    """Split fused projections; fold another scale than 1 / sqrt(W) into the queries.

    Args:
        variables: Of the file.
        scope: CTranslate2's name of the attention.
        ours: Headway's name of it.
        groups: The projections that each matrix of CTranslate2 holds.
        side: Of the attention.
    """
    weights: dict[str, Tensor] = {}
    for number, names in enumerate(groups):
        linear = f"{scope}/linear_{number}"
        weight = variables.get(f"{linear}/weight")
        bias = variables.get_optional(f"{linear}/bias")
        if weight.dim() != 2 or weight.size(0) % len(names):
            raise HeadwayError(
                f"{variables.file}: {linear} is {tuple(weight.shape)}, which {len(names)}"
                " projections cannot share"
            )
        for name, part in zip(names, weight.chunk(len(names)), strict=True):
            weights[f"{ours}.{name}.weight"] = part.clone()
        if bias is not None and bias.shape != weight.shape[:1]:
            raise HeadwayError(
                f"{variables.file}: {linear}/bias is {tuple(bias.shape)}, and"
                f" {tuple(weight.shape[:1])} was expected"
            )
        if bias is not None:
            for name, part in zip(names, bias.chunk(len(names)), strict=True):
                weights[f"{ours}.{name}.bias"] = part.clone()
    rows = weights[f"{ours}.query.weight"].size(0)
    width = variables.get_number(f"{scope}/head_dim", side.head_width or rows // side.num_heads)
    scale = variables.get_number(f"{scope}/queries_scale", 0.0) * max(int(width), 1) ** 0.5
    if scale and abs(scale - 1) > 1e-6:
        for kind in ("weight", "bias"):
            if f"{ours}.query.{kind}" in weights:
                weights[f"{ours}.query.{kind}"] *= scale
    return weights


def _add_missing_biases(layers: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give every projection of an attention a bias; a missing one becomes zeros."""
    missing = {
        name.removesuffix("weight") + "bias": torch.zeros(value.size(0))
        for name, value in layers.items()
        if name.endswith(("query.weight", "key.weight", "value.weight", "output.weight"))
        and name.removesuffix("weight") + "bias" not in layers
    }
    return layers | missing
