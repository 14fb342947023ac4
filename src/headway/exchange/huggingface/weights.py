"""Marian models as Hugging Face transformers has them: what theirs and ours call the same thing.

Both are the paper's model. Theirs has all sines before all cosines where ours alternate, as printed; so
the model's width is put in another order, in every weight that reads or writes it. Layer norm and
products do not mind: the numbers that come out are the same.

Shapes: D d_model, E d_embedding, V vocabulary, P positions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.model import Transformer
from headway.model.embeddings import sinusoids

PROJECTIONS = ("query", "key", "value", "output")
SIDES = ("encoder", "decoder")
EPSILON = 1e-5  # of every layer norm of theirs
NEVER = -10000.0  # a logit that is no chance in any precision
SHARED = "model.shared.weight"
OUTPUT = "lm_head.weight"
BIAS = "final_logits_bias"
TABLES = {side: f"model.{side}.embed_tokens.weight" for side in SIDES}
POSITIONS = {side: f"model.{side}.embed_positions.weight" for side in SIDES}


class Pair(NamedTuple):
    """A weight of a layer by both its names.

    Attributes:
        ours: Name in a Headway model.
        theirs: Name in a Marian model.
        axis: Which axis is the model's width; None: none is.
    """

    ours: str
    theirs: str
    axis: int | None


def halves(d_model: int) -> Tensor:
    """Return where each of their columns stands among ours: the even ones first, then the odd."""
    columns = torch.arange(d_model)
    return torch.cat((columns[0::2], columns[1::2]))


def alternating(d_model: int) -> Tensor:
    """Return where each of our columns stands among theirs."""
    return halves(d_model).argsort()


def layer_pairs(side: str, layer: int) -> Iterator[Pair]:
    """Name the weights of a layer, from 0, of the encoder or the decoder."""
    ours, theirs = f"{side}.layers.{layer}.", f"model.{side}.layers.{layer}."
    blocks = {"mixer.attention": "self_attn"}
    if side == "decoder":
        blocks["cross"] = "encoder_attn"
    for place, (block, other) in enumerate(blocks.items()):
        for name in ("query", "key", "value"):
            yield from _linear(
                f"{ours}{block}.{name}", f"{theirs}{other}.{name[0]}_proj", (1, None)
            )
        yield from _linear(f"{ours}{block}.output", f"{theirs}{other}.out_proj", (0, 0))
        yield from _linear(f"{ours}residuals.{place}.norm", f"{theirs}{other}_layer_norm", (0, 0))
    yield from _linear(f"{ours}feed_forward.inner", f"{theirs}fc1", (1, None))
    yield from _linear(f"{ours}feed_forward.outer", f"{theirs}fc2", (0, 0))
    last = f"{ours}residuals.{len(blocks)}.norm"
    yield from _linear(last, f"{theirs}final_layer_norm", (0, 0))


def _linear(ours: str, theirs: str, axes: tuple[int, int | None]) -> Iterator[Pair]:
    for name, axis in zip(("weight", "bias"), axes, strict=True):
        yield Pair(f"{ours}.{name}", f"{theirs}.{name}", axis)


def refusals(config: ModelConfig) -> list[str]:
    """Return why Marian cannot say such a model; nothing: it can, exactly."""
    d_model, heads = config.d_model, config.num_heads
    reasons = {
        f"norm = '{config.norm}': its layers normalise after the sum": config.norm != "post",
        f"norm_epsilon = {config.norm_epsilon:g}: its is {EPSILON:g}": config.norm_epsilon
        != EPSILON,
        f"compatibility = '{config.compatibility}': it knows dot products only": (
            config.compatibility != "dot"
        ),
        f"window = {config.window}: its attention sees all positions": config.window != 0,
        "d_k or d_v: its heads are d_model / num_heads wide": (
            bool(d_model % heads) or set(config.head_widths) != {d_model // heads}
        ),
        "num_decoder_layers = 0 with scale_logits: no norm to put the scale in": (
            config.scale_logits and config.num_decoder_layers == 0
        ),
    }
    found = [
        f"{name} = '{getattr(config, name)}': it knows attention only"
        for name in ("encoder_mixer", "decoder_mixer")
        if getattr(config, name) != "attention"
    ]
    return found + [reason for reason, holds in reasons.items() if holds]


@torch.no_grad()
def to_marian(model: Transformer, size: int) -> dict[str, Tensor]:
    """Return a model's weights under Marian's names, in Marian's order.

    Args:
        model: Not one that `refusals` names a reason for.
        size: V of both vocabularies, at least what they have; ``<pad>`` becomes the last of it.
    """
    config = model.config
    own = {name: tensor.detach().float().cpu() for name, tensor in model.state_dict().items()}
    order = halves(config.d_model)
    found: dict[str, Tensor] = {}
    for side, layers in zip(SIDES, layer_counts(config), strict=True):
        for pair in (pair for layer in range(layers) for pair in layer_pairs(side, layer)):
            value = own.get(pair.ours)
            if value is None:  # attention without biases
                value = torch.zeros(config.d_model)
            if not config.scale_attention and ".q_proj." in pair.theirs:
                value = value * (config.d_model // config.num_heads) ** 0.5
            found[pair.theirs] = (
                value if pair.axis is None else value.index_select(pair.axis, order)
            )
    if config.scale_logits:  # what the last norm writes goes to the logits and nowhere else
        for name in ("weight", "bias"):
            last = f"model.decoder.layers.{config.num_decoder_layers - 1}.final_layer_norm.{name}"
            found[last] = found[last] * config.d_model**-0.5
    source, target, output = (stretched(t[:, order], size) for t in _tables(model))
    if shared(config):
        found[SHARED] = source
    else:
        found |= {TABLES["encoder"]: source, TABLES["decoder"]: target}
    if not tied(config):
        found[OUTPUT] = output
    bias = own.get("output.bias", torch.zeros(config.target_vocab_size))[:, None]
    found[BIAS] = stretched(bias, size, NEVER).T
    if config.positions != "sinusoidal":
        for side, ours in zip(SIDES, ("source_positions", "target_positions"), strict=True):
            zeros = torch.zeros(config.max_positions, config.d_model)
            found[POSITIONS[side]] = own.get(f"{ours}.table", zeros)[:, order]
    return {name: tensor.contiguous() for name, tensor in found.items()}


def layer_counts(config: ModelConfig) -> tuple[int, int]:
    """Return how many layers the encoder and the decoder have."""
    return config.num_encoder_layers, config.num_decoder_layers


def tied(config: ModelConfig) -> bool:
    """Whether the decoder's embedding is Marian's output matrix too."""
    return config.tying != "none" and config.d_embedding in (0, config.d_model)


def shared(config: ModelConfig) -> bool:
    """Whether Marian has one embedding for both sides."""
    return tied(config) and config.tying == "three-way"


def _tables(model: Transformer) -> tuple[Tensor, Tensor, Tensor]:
    """Return the embeddings of source and target and the output matrix, each [V, D]."""

    def reaching(weight: Tensor, map_DE: Tensor | None) -> Tensor:
        weight = weight.detach().cpu()
        return weight if map_DE is None else (weight.double() @ map_DE.double().T).float()

    found = []
    for embedding in (model.source_embedding, model.target_table):
        expand = None if embedding.expand is None else embedding.expand.weight.cpu()
        found.append(reaching(embedding.weight, expand))
    own = model.target_table.weight if model.output.weight is None else model.output.weight
    reduce = None if model.output.reduce is None else model.output.reduce.weight.cpu().T
    return found[0], found[1], reaching(own, reduce)


def stretched(rows: Tensor, size: int, fill: float = 0.0) -> Tensor:
    """Put rows before the last, which is ``<pad>``'s, so that there are ``size``."""
    missing = rows.new_full((size - len(rows), rows.size(1)), fill)
    return torch.cat((rows[:-1], missing, rows[-1:]))


def expected(shape: ModelConfig) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    """Return the names and shapes that Marian weights must have, and those they may have."""
    width, inner = shape.d_model, shape.d_ff
    needed: dict[str, tuple[int, ...]] = {}
    for side, layers in zip(SIDES, layer_counts(shape), strict=True):
        for pair in (pair for layer in range(layers) for pair in layer_pairs(side, layer)):
            module, kind = pair.theirs.split(".")[-2:]
            rows = inner if module == "fc1" else width
            columns = inner if module == "fc2" else width
            matrix = kind == "weight" and not module.endswith("norm")
            needed[pair.theirs] = (rows, columns) if matrix else (rows,)
    sizes = shape.source_vocab_size, shape.target_vocab_size
    allowed: dict[str, tuple[int, ...]] = {
        SHARED: (sizes[0], width),
        OUTPUT: (sizes[1], width),
        BIAS: (1, sizes[1]),
    }
    for side, size in zip(SIDES, sizes, strict=True):
        allowed[TABLES[side]] = (size, width)
        allowed[POSITIONS[side]] = (shape.max_positions, width)
    return needed, allowed


def embeddings(
    found: Mapping[str, Tensor], *, shared: bool, tied: bool, file: Path
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the embeddings of source and target and the output matrix of Marian weights.

    Those that are one matrix may be in the file under any of their names, or under all.

    Args:
        found: The weights.
        shared: Whether both sides have one embedding.
        tied: Whether the output matrix is the decoder's embedding.
        file: For errors.

    Raises:
        HeadwayError: If one is missing, or matrices differ that should be one.
    """
    names = [[TABLES["encoder"]], [TABLES["decoder"]], [OUTPUT]]
    if shared:
        names[0] = names[1] = [SHARED, *names[0], *names[1]]
    if tied:
        names[2] = names[1] = names[1] + names[2]
        names[0] = names[1] if shared else names[0]
    tables = []
    for alike in names:
        own = [name for name in alike if name in found]
        if not own:
            raise HeadwayError(f"{file}: {alike[0]} is missing")
        for name in own[1:]:
            if not torch.equal(found[name], found[own[0]]):
                raise HeadwayError(
                    f"{file}: {name} and {own[0]} differ, config.json says they are one"
                )
        tables.append(found[own[0]])
    return tables[0], tables[1], tables[2]


def from_marian(
    shape: ModelConfig,
    found: Mapping[str, Tensor],
    tables: tuple[Tensor, Tensor, Tensor],
    ids: tuple[Tensor, Tensor],
) -> tuple[ModelConfig, dict[str, Tensor]]:
    """Turn Marian weights into those of a Headway model.

    Args:
        shape: What config.json says of it.
        found: The weights by Marian's names, `expected` of that shape.
        tables: As `embeddings` returns them.
        ids: For source and target which row of theirs each of ours is; ``<pad>``'s is the last.

    Returns:
        Its shape, with what the weights say, and its weights.
    """
    order = alternating(shape.d_model)
    own: dict[str, Tensor] = {}
    for side, layers in zip(SIDES, layer_counts(shape), strict=True):
        for pair in (pair for layer in range(layers) for pair in layer_pairs(side, layer)):
            value = found[pair.theirs]
            own[pair.ours] = value if pair.axis is None else value.index_select(pair.axis, order)
    biases = [name for name in own if name.split(".")[-2:][0] in PROJECTIONS and "bias" in name]
    attention_bias = any(bool(own[name].any()) for name in biases)
    if not attention_bias:
        own = {name: value for name, value in own.items() if name not in biases}
    source, target, output = (
        table[rows][:, order] for table, rows in zip(tables, (*ids, ids[1]), strict=True)
    )
    source[-1] = 0  # <pad> among the source is never looked at
    tying: Literal["three-way", "target", "none"] = "none"
    own["source_embedding.weight"] = source
    if torch.equal(output, target):
        tying = "three-way" if torch.equal(source, target) else "target"
    if tying != "three-way":
        own["target_embedding.weight"] = target
    if tying == "none":
        own["output.weight"] = output
    bias = found[BIAS].flatten()[ids[1]] if BIAS in found else torch.zeros(1)
    if bias.any():
        own["output.bias"] = bias
    positions, learned = _positions(shape, found)
    shape = replace(
        shape,
        attention_bias=attention_bias,
        output_bias=bool(bias.any()),
        tying=tying,
        positions=positions,
        source_vocab_size=len(source),
        target_vocab_size=len(target),
    )
    return shape, own | learned


def _positions(
    shape: ModelConfig, found: Mapping[str, Tensor]
) -> tuple[Literal["sinusoidal", "learned", "none"], dict[str, Tensor]]:
    """Say what the position tables are; sinusoids, where the file has none."""
    usual = sinusoids(shape.max_positions, shape.d_model)
    order = alternating(shape.d_model)
    tables = {
        f"{ours}_positions.table": found[POSITIONS[side]][:, order]
        if POSITIONS[side] in found
        else usual
        for ours, side in zip(("source", "target"), SIDES, strict=True)
    }
    if all(torch.allclose(table, usual, rtol=0, atol=1e-5) for table in tables.values()):
        return "sinusoidal", {}
    if not any(table.any() for table in tables.values()):
        return "none", {}
    return "learned", tables
