"""A Headway model's weights by CTranslate2's names and in its forms, and stored in fewer bits.

Embeddings of another width than the model are multiplied out; heads are padded with zeros to one
width; what several names share is one tensor, which the file then holds once.

Shapes: V vocabulary, D d_model, H heads, K d_k, L rows of the position table.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.config import ModelConfig
from headway.model import MultiHeadAttention, Positions, SelfAttention, Transformer
from headway.model.embeddings import Embedding, sinusoids
from headway.model.layers import Layer, Residual, Stack

ACTIVATIONS = {"relu": 0, "swish": 2, "gelu": 3}  # its 1 is an approximation of gelu
LONGEST = 1026  # positions that CTranslate2's default limit of 1,024 tokens can ask for


def weights(model: Transformer) -> dict[str, Tensor]:
    """Return CTranslate2's variables, in fp32; one tensor for all that share it."""
    config = model.config
    source, target = _table(model.source_embedding), _table(model.target_table)
    if model.target_embedding is None:
        target = source
    tables = {
        side: _positions(positions, config)
        for side, positions in (
            ("encoder", model.source_positions),
            ("decoder", model.target_positions),
        )
    }
    if config.positions != "learned":
        tables["decoder"] = tables["encoder"]
    found = {
        "encoder/embeddings_0/weight": source,
        "encoder/embeddings_merge": _whole(0),
        "decoder/embeddings/weight": target,
        "decoder/start_from_zero_embedding": _whole(1),
        "decoder/alignment_layer": _whole(-1, torch.int16),
        "decoder/alignment_heads": _whole(0, torch.int16),  # 0: the mean of all
        "decoder/projection/weight": _projection(model, target),
    }
    if config.scale_logits:
        found["decoder/scale_outputs"] = torch.tensor(model.output.scale)
    if model.output.bias is not None:
        found["decoder/projection/bias"] = model.output.bias
    for side, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        found[f"{side}/num_heads"] = _whole(config.num_heads, torch.int16)
        found[f"{side}/pre_norm"] = _whole(config.norm == "pre")
        found[f"{side}/activation"] = _whole(ACTIVATIONS[config.activation])
        found[f"{side}/scale_embeddings"] = _whole(config.scale_embeddings)
        found[f"{side}/position_encodings/encodings"] = tables[side]
        found |= _stack(side, stack, config)
    once = {id(tensor): tensor.detach() for tensor in found.values()}
    return {name: once[id(tensor)] for name, tensor in found.items()}


def _whole(value: int, dtype: torch.dtype = torch.int8) -> Tensor:
    return torch.tensor(int(value), dtype=dtype)


def _table(embedding: Embedding) -> Tensor:
    if embedding.expand is None:
        return embedding.weight
    return (embedding.weight.double() @ embedding.expand.weight.double().T).float()


def _projection(model: Transformer, target: Tensor) -> Tensor:
    own = model.target_table.weight if model.output.weight is None else model.output.weight
    if model.output.reduce is not None:
        return (own.double() @ model.output.reduce.weight.double()).float()
    return target if model.output.weight is None else own


def _positions(positions: Positions, config: ModelConfig) -> Tensor:
    if positions.kind == "learned":
        return positions.table
    rows = max(LONGEST, config.max_positions)
    if positions.kind == "none":
        return torch.zeros(rows, config.d_model)
    return sinusoids(rows, config.d_model)


def _stack(side: str, stack: Stack, config: ModelConfig) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    if stack.final_norm is not None:
        found |= _norm(f"{side}/layer_norm", stack.final_norm)
    for number, layer in enumerate(stack.layers):
        found |= _layer(f"{side}/layer_{number}", layer, config)
    return found


def _layer(scope: str, layer: Layer, config: ModelConfig) -> dict[str, Tensor]:
    assert isinstance(layer.mixer, SelfAttention)
    mix, *meet, feed = (cast("Residual", residual).norm for residual in layer.residuals)
    own = layer.mixer.attention
    found = _attention(f"{scope}/self_attention", own, config, alone=True)
    found |= _norm(f"{scope}/self_attention/layer_norm", mix)
    if layer.cross is not None:
        found |= _attention(f"{scope}/attention", layer.cross, config, alone=False)
        found |= _norm(f"{scope}/attention/layer_norm", meet[0])
    found |= _linear(f"{scope}/ffn/linear_0", layer.feed_forward.inner)
    found |= _linear(f"{scope}/ffn/linear_1", layer.feed_forward.outer)
    return found | _norm(f"{scope}/ffn/layer_norm", feed)


def _norm(scope: str, norm: nn.LayerNorm) -> dict[str, Tensor]:
    return {f"{scope}/gamma": norm.weight, f"{scope}/beta": norm.bias}


def _linear(scope: str, linear: nn.Linear) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {f"{scope}/weight": linear.weight}
    if linear.bias is not None:
        found[f"{scope}/bias"] = linear.bias
    return found


def _attention(
    scope: str, attention: MultiHeadAttention, config: ModelConfig, *, alone: bool
) -> dict[str, Tensor]:
    """Return the projections, those that read the same fused, all heads of one width."""
    d_k, d_v = config.head_widths
    width = max(d_k, d_v)
    query, key, value = (
        _padded(linear, config.num_heads, width)
        for linear in (attention.query, attention.key, attention.value)
    )
    groups = [[query, key, value]] if alone else [[query], [key, value]]
    found: dict[str, Tensor] = {}
    for number, group in enumerate(groups):
        found[f"{scope}/linear_{number}/weight"] = torch.cat([weight for weight, _ in group])
        if attention.query.bias is not None:
            biases = [bias for _, bias in group if bias is not None]
            found[f"{scope}/linear_{number}/bias"] = torch.cat(biases)
    heads = attention.output.weight.unflatten(1, (config.num_heads, d_v))
    last = f"{scope}/linear_{len(groups)}"
    found[f"{last}/weight"] = F.pad(heads, (0, width - d_v)).flatten(1)
    if attention.output.bias is not None:
        found[f"{last}/bias"] = attention.output.bias
    if width * config.num_heads != config.d_model:
        found[f"{scope}/head_dim"] = _whole(width, torch.int32)
    scale = d_k**-0.5 if config.scale_attention else 1.0
    if scale != width**-0.5 or width * config.num_heads != config.d_model:
        found[f"{scope}/queries_scale"] = torch.tensor(scale)
    return found


def _padded(linear: nn.Linear, heads: int, width: int) -> tuple[Tensor, Tensor | None]:
    """Pad each head's outputs with zeros to ``width``."""
    weight = linear.weight.unflatten(0, (heads, -1))
    missing = width - weight.size(1)
    weight = F.pad(weight, (0, 0, 0, missing)).flatten(0, 1)
    if linear.bias is None:
        return weight, None
    return weight, F.pad(linear.bias.unflatten(0, (heads, -1)), (0, missing)).flatten()


def rounded(variables: dict[str, Tensor], precision: str) -> dict[str, Tensor]:
    """Store weights in another precision, as CTranslate2's own converters do.

    int8: matrices, embeddings included, with a factor for each row that takes its largest to 127.
    float16 and bfloat16: all but single numbers.
    """
    if precision == "float32":
        return variables
    once: dict[int, tuple[Tensor, Tensor | None]] = {}
    found: dict[str, Tensor] = {}
    for name, tensor in variables.items():
        if id(tensor) not in once:
            once[id(tensor)] = _round(name, tensor, precision)
        found[name], scale = once[id(tensor)]
        if scale is not None:
            found[f"{name}_scale"] = scale
    return found


def _round(name: str, tensor: Tensor, precision: str) -> tuple[Tensor, Tensor | None]:
    if tensor.dim() == 0:
        return tensor, None
    if precision != "int8":
        return tensor.to(getattr(torch, precision)), None
    if not name.endswith("/weight"):
        return tensor, None
    largest = tensor.abs().amax(1).clamp(min=127 / torch.finfo(torch.float32).max)
    largest[tensor.abs().amax(1) == 0] = 127
    scale = 127 / largest
    return (tensor * scale[:, None]).round().to(torch.int8), scale
