"""CTranslate2's variables, turned into the weights of a Headway model and the shape they have.

Whatever a variable says that a Headway model has no part for is refused by its name, so that nothing
is lost in silence. Ids keep their order here.

Shapes: V vocabulary, D d_model, H heads, W width of a head.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.exchange.ctranslate2.weights import ACTIVATIONS, LONGEST
from headway.model.embeddings import sinusoids

# What has no bearing on a translation, and what is said elsewhere.
ASIDE = {"alignment_layer", "alignment_heads", "embeddings_merge", "start_from_zero_embedding"}
ABSENT_IF_ZERO = {"alibi", "alibi_use_positive_positions", "scale_alibi", "multi_query"}


class Variables:
    """The variables of a file, each to be asked for once; what is left nobody knew.

    Args:
        found: As they are stored.
        file: For messages.
    """

    def __init__(self, found: Mapping[str, Tensor], file: Path) -> None:
        self.found, self.file = dict(found), file
        self.asked: set[str] = set()

    def take(self, name: str) -> Tensor:
        """Return a tensor in fp32, multiplied out if it was rounded.

        Raises:
            HeadwayError: If it is not there.
        """
        value = self.maybe(name)
        if value is None:
            raise HeadwayError(f"{self.file}: {name} is missing")
        return value

    def maybe(self, name: str) -> Tensor | None:
        """`take`, or None."""
        if name not in self.found:
            return None
        self.asked |= {name, f"{name}_scale"}
        value = self.found[name].float()
        scale = self.found.get(f"{name}_scale")
        if scale is None:
            return value
        if scale.dim() > 1 or (scale.dim() == 1 and scale.size(0) != value.size(0)):
            raise HeadwayError(f"{self.file}: {name}_scale has shape {tuple(scale.shape)}")
        return value / scale.float().reshape(-1, *[1] * (value.dim() - 1))

    def number(self, name: str, default: float | None = None) -> float:
        """Return a single number.

        Raises:
            HeadwayError: If it is none, or missing without a default.
        """
        value = self.found.get(name)
        self.asked.add(name)
        if value is None and default is not None:
            return default
        if value is None or value.numel() != 1 or value.dim() > 1:
            raise HeadwayError(f"{self.file}: {name} is missing, or not a number")
        return float(value)

    def count(self, scope: str) -> int:
        """Count the layers of a side."""
        number = 0
        while f"{scope}/layer_{number}/ffn/linear_0/weight" in self.found:
            number += 1
        return number

    def finish(self) -> None:
        """Refuse what is left.

        Raises:
            HeadwayError: Naming a variable that a Headway model has no part for.
        """
        for name in sorted(self.found.keys() - self.asked):
            last = name.rsplit("/", 1)[-1]
            if last in ASIDE or (last in ABSENT_IF_ZERO and not self.found[name].any()):
                continue
            raise HeadwayError(f"{self.file}: {name}: a Headway model has no such part")


def read_layers(
    found: Mapping[str, Tensor], settings: Mapping[str, Any], file: Path
) -> tuple[ModelConfig, dict[str, Tensor]]:
    """Return the shape and the weights, by Headway's names.

    Args:
        found: From `read_variables`.
        settings: ``config.json``.
        file: For messages.

    Raises:
        HeadwayError: If it is not a model that Headway can have.
    """
    variables = Variables(found, file)
    source = variables.take("encoder/embeddings_0/weight")
    target = variables.take("decoder/embeddings/weight")
    output = variables.take("decoder/projection/weight")
    bias = variables.maybe("decoder/projection/bias")
    if not (source.dim() == target.dim() == output.dim() == 2):
        raise HeadwayError(f"{file}: embeddings must be matrices")
    d_model = source.size(1)
    facts = [_side(variables, side, d_model) for side in ("encoder", "decoder")]
    if facts[0] != facts[1]:
        raise HeadwayError(f"{file}: encoder and decoder differ: {facts[0]} and {facts[1]}")
    same = torch.equal(target, output)
    tying: Literal["three-way", "target", "none"] = (
        ("three-way" if torch.equal(source, target) else "target") if same else "none"
    )
    values = {"source_embedding.weight": source}
    if tying != "three-way":
        values["target_embedding.weight"] = target
    if tying == "none":
        values["output.weight"] = output
    if bias is not None:
        values["output.bias"] = bias
    positions, tables = _positions(variables, d_model)
    scale = variables.number("decoder/scale_outputs", 1.0)
    if scale not in (1.0, d_model**-0.5) and abs(scale - d_model**-0.5) > 1e-6:
        raise HeadwayError(f"{file}: decoder/scale_outputs = {scale}: Headway has d_model^-0.5")
    layers: dict[str, Tensor] = {}
    for side in ("encoder", "decoder"):
        if facts[0]["norm"] == "pre":
            layers |= _norm(variables, f"{side}/layer_norm", f"{side}.final_norm")
        for number in range(variables.count(side)):
            layers |= _layer(variables, side, number, facts[0])
    inner = [value.size(0) for name, value in layers.items() if name.endswith("inner.weight")]
    has_bias = any(".attention.query.bias" in n or ".cross.query.bias" in n for n in layers)
    shape = ModelConfig(
        source_vocab_size=source.size(0),
        target_vocab_size=target.size(0),
        num_encoder_layers=variables.count("encoder"),
        num_decoder_layers=variables.count("decoder"),
        d_model=d_model,
        d_ff=max(inner, default=1),
        num_heads=facts[0]["heads"],
        d_k=facts[0]["width"],
        d_v=facts[0]["width"],
        norm=facts[0]["norm"],
        norm_epsilon=_epsilon(settings, file),
        activation=facts[0]["activation"],
        attention_bias=has_bias,
        positions=positions,
        max_positions=tables[0].size(0) if tables else LONGEST,
        tying=tying,
        scale_embeddings=facts[0]["scaled"],
        scale_logits=scale != 1.0,
        output_bias=bias is not None,
        dropout=0.1,
    )
    if positions == "learned":
        values |= {"source_positions.table": tables[0], "target_positions.table": tables[1]}
    variables.finish()
    return shape, values | (_all_biases(layers) if has_bias else layers)


def _epsilon(settings: Mapping[str, Any], file: Path) -> float:
    value = settings.get("layer_norm_epsilon")
    if value is None:
        return 1e-5
    if not isinstance(value, float) or not 0 < value < 1:
        raise HeadwayError(f"{file.parent / 'config.json'}: layer_norm_epsilon = {value!r}")
    return value


def _side(variables: Variables, side: str, d_model: int) -> dict[str, Any]:
    """Return what is said of a side as a whole."""
    file = variables.file
    if not variables.count(side):
        raise HeadwayError(f"{file}: {side} has no layers")
    heads = int(variables.number(f"{side}/num_heads"))
    if not 0 < heads <= d_model:
        raise HeadwayError(f"{file}: {side}/num_heads = {heads} for a width of {d_model}")
    names = {number: name for name, number in ACTIVATIONS.items()}
    activation = int(variables.number(f"{side}/activation", 0))
    if activation not in names:
        raise HeadwayError(f"{file}: {side}/activation = {activation}: unknown to Headway")
    width = int(variables.number(f"{side}/layer_0/self_attention/head_dim", d_model // heads))
    scale = variables.found.get(f"{side}/scale_embeddings")
    number = variables.number(f"{side}/scale_embeddings", 1.0)
    if scale is None or (scale.dtype == torch.int8 and number):
        number = d_model**0.5
    elif number in (0.0, 1.0):
        number = 1.0
    if number != 1.0 and abs(number / d_model**0.5 - 1) > 1e-6:
        raise HeadwayError(f"{file}: {side}/scale_embeddings = {number}: Headway has sqrt(d_model)")
    return {
        "heads": heads,
        "norm": "pre" if variables.number(f"{side}/pre_norm", 1) else "post",
        "activation": names[activation],
        "width": 0 if width * heads == d_model else width,
        "scaled": number != 1.0,
    }


def _positions(variables: Variables, d_model: int) -> tuple[Any, list[Tensor]]:
    """Tell the paper's sinusoids, no positions and other tables apart; the last count as learned."""
    names = [f"{side}/position_encodings/encodings" for side in ("encoder", "decoder")]
    stored = [variables.found.get(name) for name in names]
    tables = [variables.maybe(name) for name in names]
    if tables[0] is None or tables[1] is None:
        made = tensor2tensor_sinusoids(LONGEST, d_model)
        tables = [made if table is None else table for table in tables]
    whole = [table for table in tables if table is not None]
    if any(table.dim() != 2 or table.size(1) != d_model for table in whole):
        raise HeadwayError(f"{variables.file}: position tables must have {d_model} columns")
    rows = min(table.size(0) for table in whole)
    whole = [table[:rows] for table in whole]
    if all(not table.any() for table in whole):
        return "none", whole
    paper = sinusoids(rows, d_model) if d_model % 2 == 0 else None
    if paper is not None and all(
        raw is not None and torch.allclose(paper.to(raw.dtype), raw[:rows], rtol=0, atol=2e-6)
        for raw in stored
    ):
        return "sinusoidal", whole
    return "learned", whole


def tensor2tensor_sinusoids(length: int, d_model: int) -> Tensor:
    """Tabulate what CTranslate2 adds where no table is stored: all sines first, from position 1."""
    half = d_model // 2
    rate = 10000 ** (-torch.arange(half, dtype=torch.float64) / max(half - 1, 1))
    angle = torch.arange(1, length + 1, dtype=torch.float64)[:, None] * rate
    table = torch.cat((angle.sin(), angle.cos()), 1).float()
    return torch.nn.functional.pad(table, (0, d_model - 2 * half))


def _layer(
    variables: Variables, side: str, number: int, facts: dict[str, Any]
) -> dict[str, Tensor]:
    scope, ours = f"{side}/layer_{number}", f"{side}.layers.{number}"
    found = _attention(
        variables, f"{scope}/self_attention", f"{ours}.mixer.attention", facts, alone=True
    )
    places = [f"{scope}/self_attention/layer_norm"]
    if side == "decoder":
        found |= _attention(variables, f"{scope}/attention", f"{ours}.cross", facts, alone=False)
        places.append(f"{scope}/attention/layer_norm")
    places.append(f"{scope}/ffn/layer_norm")
    for place, name in enumerate(places):
        found |= _norm(variables, name, f"{ours}.residuals.{place}.norm")
    for theirs, name in (("linear_0", "inner"), ("linear_1", "outer")):
        weight = variables.take(f"{scope}/ffn/{theirs}/weight")
        bias = variables.maybe(f"{scope}/ffn/{theirs}/bias")
        found[f"{ours}.feed_forward.{name}.weight"] = weight
        found[f"{ours}.feed_forward.{name}.bias"] = (
            torch.zeros(weight.size(0)) if bias is None else bias
        )
    return found


def _norm(variables: Variables, theirs: str, ours: str) -> dict[str, Tensor]:
    return {
        f"{ours}.weight": variables.take(f"{theirs}/gamma"),
        f"{ours}.bias": variables.take(f"{theirs}/beta"),
    }


def _attention(
    variables: Variables, scope: str, ours: str, facts: dict[str, Any], *, alone: bool
) -> dict[str, Tensor]:
    """Take fused projections apart; another scale than 1 / sqrt(W) goes into the queries."""
    groups = [["query", "key", "value"]] if alone else [["query"], ["key", "value"]]
    groups.append(["output"])
    found: dict[str, Tensor] = {}
    for number, names in enumerate(groups):
        weight = variables.take(f"{scope}/linear_{number}/weight")
        bias = variables.maybe(f"{scope}/linear_{number}/bias")
        if weight.dim() != 2 or weight.size(0) % len(names):
            raise HeadwayError(
                f"{variables.file}: {scope}/linear_{number} is {tuple(weight.shape)}, which"
                f" {len(names)} projections cannot share"
            )
        for name, part in zip(names, weight.chunk(len(names)), strict=True):
            found[f"{ours}.{name}.weight"] = part.clone()
        if bias is not None and bias.shape == weight.shape[:1]:
            for name, part in zip(names, bias.chunk(len(names)), strict=True):
                found[f"{ours}.{name}.bias"] = part.clone()
        elif bias is not None:
            raise HeadwayError(f"{variables.file}: {scope}/linear_{number}/bias does not fit")
    rows = found[f"{ours}.query.weight"].size(0)
    width = int(variables.number(f"{scope}/head_dim", facts["width"] or rows // facts["heads"]))
    scale = variables.number(f"{scope}/queries_scale", 0.0) * max(width, 1) ** 0.5
    if scale and abs(scale - 1) > 1e-6:
        for kind in ("weight", "bias"):
            if f"{ours}.query.{kind}" in found:
                found[f"{ours}.query.{kind}"] *= scale
    return found


def _all_biases(layers: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give every projection a bias, of zeros where it has none."""
    missing = {
        name.removesuffix("weight") + "bias": torch.zeros(value.size(0))
        for name, value in layers.items()
        if name.endswith(("query.weight", "key.weight", "value.weight", "output.weight"))
        and name.removesuffix("weight") + "bias" not in layers
    }
    return layers | missing
