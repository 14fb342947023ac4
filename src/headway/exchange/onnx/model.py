"""A Headway model as ONNX graphs: its encoder, and its decoder without and with a past.

The standard operators of opset 17 say the paper's model exactly, and pre-norm, biases and learned
positions too. Names of inputs and outputs are those that Hugging Face's Optimum looks for.

Shapes: B batch, S source length, T target length, D d_model, E d_embedding, H heads, K d_k, V d_v.
Paper: section 3.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import torch

from headway.exchange.huggingface.to_marian import add_rows
from headway.exchange.onnx.graph import Graph
from headway.exchange.shared import IMPOSSIBLE_LOGIT
from headway.model import MultiHeadAttention, SelfAttention, Transformer
from headway.model.layers import Layer, Residual, Stack

LEAST = float(np.finfo(np.float32).min)


class Memory(NamedTuple):
    """What an attention looks at: keys [B, H, S, K] and values [B, H, S, V], by their names."""

    keys: str
    values: str


class Parts:
    """A model's encoder and decoder as graphs.

    Args:
        model: Of a shape that `headway.exchange.onnx.refusals` lets pass.
        size: Of both vocabularies, at least what they have; ``<pad>`` becomes the last of it.
        rows: Of the position tables that are not learned.
        rounded: Whether matrices are stored in 8 bits.
    """

    def __init__(self, model: Transformer, size: int, rows: int, *, rounded: bool) -> None:
        self.model, self.config = model, model.config
        self.size, self.rows, self.rounded = size, rows, rounded

    @torch.no_grad()
    def encoder(self) -> Any:
        """Return the graph ``input_ids``, ``attention_mask`` -> ``last_hidden_state``."""
        g, model = Graph(rounded=self.rounded), self.model
        ids = g.input("input_ids", np.int64, "batch", "source")
        seen = _seen(g, g.input("attention_mask", np.int64, "batch", "source"))
        table = add_rows(model.source_embedding.weight, self.size)
        x = g.embed(ids, table, model.source_embedding, "source.table")
        x = g.place(x, model.source_positions, g.integers(0), self.rows, "source.positions")
        for i, layer in enumerate(model.encoder.layers):
            x = self._own(g, x, layer, f"encoder.{i}", seen)[0]
            x = self._feed(g, x, layer, f"encoder.{i}")
        g.output("last_hidden_state", _end(g, x, model.encoder, "encoder"), "batch", "source",
                 self.config.d_model)  # fmt: skip
        return g.model()

    @torch.no_grad()
    def decoder(self, *, past: bool) -> Any:
        """Return the graph of the decoder.

        Args:
            past: Whether it reads one more token, given the keys and values of those before and of
                the source; else any number from the first on, given ``encoder_hidden_states``.
        """
        g, model = Graph(rounded=self.rounded), self.model
        width, layers = self.config.d_model, list(enumerate(model.decoder.layers))
        ids = g.input("input_ids", np.int64, "batch", 1 if past else "target")
        seen = _seen(g, g.input("encoder_attention_mask", np.int64, "batch", "source"))
        hidden = earlier = ""
        held: list[dict[str, Memory]] = []
        if past:
            kinds = {"decoder": "past", "encoder": "source"}
            held = [{k: self._held(g, i, k, n) for k, n in kinds.items()} for i, _ in layers]
            first = g.op("Shape", held[0]["decoder"].keys, start=2, end=3)
        else:
            first = g.integers(0)
            hidden = g.input("encoder_hidden_states", np.float32, "batch", "source", width)
            earlier = _earlier(g, ids)
        table = add_rows(model.target_table.weight, self.size)
        x = g.embed(ids, table, model.target_table, "target.table")
        x = g.place(x, model.target_positions, first, self.rows, "target.positions")
        present: list[dict[str, Memory]] = []
        for i, layer in layers:
            name, cross = f"decoder.{i}", cast(MultiHeadAttention, layer.cross)
            before = held[i]["decoder"] if past else None
            x, now = self._own(g, x, layer, name, earlier, before)
            memory = held[i]["encoder"] if past else self._memory(g, hidden, cross, f"{name}.cross")
            x = self._meet(g, x, layer, name, memory, seen)
            x = self._feed(g, x, layer, name)
            present.append({"decoder": now} if past else {"decoder": now, "encoder": memory})
        x = self._logits(g, _end(g, x, model.decoder, "decoder"))
        g.output("logits", x, "batch", 1 if past else "target", self.size)
        for i, memories in enumerate(present):
            for kind, memory in memories.items():
                length = "source" if kind == "encoder" else "present"
                for part, value, k in zip(
                    Memory._fields, memory, self.config.head_widths, strict=True
                ):
                    name = f"present.{i}.{kind}.{part.removesuffix('s')}"
                    g.output(name, value, "batch", self.config.num_heads, length, k)
        return g.model()

    def _held(self, g: Graph, layer: int, kind: str, length: str) -> Memory:
        heads, (d_k, d_v) = self.config.num_heads, self.config.head_widths
        name = f"past_key_values.{layer}.{kind}"
        keys = g.input(f"{name}.key", np.float32, "batch", heads, length, d_k)
        return Memory(keys, g.input(f"{name}.value", np.float32, "batch", heads, length, d_v))

    def _own(
        self, g: Graph, x: str, layer: Layer, name: str, seen: str, before: Memory | None = None
    ) -> tuple[str, Memory]:
        """Apply self-attention; returns its keys and values, too, those of ``before`` first."""
        attention, found = cast(SelfAttention, layer.mixer).attention, []

        def mix(y: str) -> str:
            memory = self._memory(g, y, attention, f"{name}.self")
            if before is not None:
                pairs = zip(before, memory, strict=True)
                memory = Memory(*(g.op("Concat", *pair, axis=2) for pair in pairs))
            found.append(memory)
            return self._attend(g, y, memory, seen, attention, f"{name}.self")

        return _residual(g, x, mix, _norm(layer, 0), f"{name}.norm.0"), found[0]

    def _meet(self, g: Graph, x: str, layer: Layer, name: str, memory: Memory, seen: str) -> str:
        """Apply the attention to the source."""
        cross = cast(MultiHeadAttention, layer.cross)

        def meet(y: str) -> str:
            return self._attend(g, y, memory, seen, cross, f"{name}.cross")

        return _residual(g, x, meet, _norm(layer, 1), f"{name}.norm.1")

    def _feed(self, g: Graph, x: str, layer: Layer, name: str) -> str:
        """Apply the feed-forward network."""
        inner, outer = layer.feed_forward.inner, layer.feed_forward.outer

        def feed(y: str) -> str:
            y = g.linear(y, inner.weight, inner.bias, f"{name}.inner")
            y = _activated(g, y, self.config.activation)
            return g.linear(y, outer.weight, outer.bias, f"{name}.outer")

        last = len(layer.residuals) - 1
        return _residual(g, x, feed, _norm(layer, last), f"{name}.norm.{last}")

    def _memory(self, g: Graph, x: str, attention: MultiHeadAttention, name: str) -> Memory:
        return Memory(*(self._heads(g, x, attention, name, part) for part in ("key", "value")))

    def _heads(self, g: Graph, x: str, attention: MultiHeadAttention, name: str, part: str) -> str:
        """Project [B, T, D] and cut it into heads, [B, H, T, K]."""
        map_ = getattr(attention, part)
        y = g.linear(x, map_.weight, map_.bias, f"{name}.{part}")
        y = g.op("Reshape", y, g.integers(0, 0, self.config.num_heads, -1))
        return g.op("Transpose", y, perm=[0, 2, 1, 3])

    def _attend(
        self, g: Graph, x: str, memory: Memory, seen: str, attention: MultiHeadAttention, name: str
    ) -> str:
        """Attend from [B, T, D] to a memory; ``seen`` says where, if not everywhere."""
        d_k, d_v = self.config.head_widths
        query = self._heads(g, x, attention, name, "query")
        if self.config.scale_attention:
            query = g.op("Mul", query, g.real(d_k**-0.5))
        scores = g.op("MatMul", query, g.op("Transpose", memory.keys, perm=[0, 1, 3, 2]))
        if seen:
            scores = g.op("Where", seen, scores, g.real(LEAST))
        y = g.op("MatMul", g.op("Softmax", scores, axis=-1), memory.values)
        y = g.op("Transpose", y, perm=[0, 2, 1, 3])
        y = g.op("Reshape", y, g.integers(0, 0, self.config.num_heads * d_v))
        return g.linear(y, attention.output.weight, attention.output.bias, f"{name}.output")

    def _logits(self, g: Graph, x: str) -> str:
        """Map [B, T, D] to logits [B, T, V], over an embedding's table where that is tied."""
        output = self.model.output
        if output.reduce is not None:
            x = g.linear(x, output.reduce.weight, None, "output.reduce")
        if output.scale != 1:
            x = g.op("Mul", x, g.real(output.scale))
        own = self.model.target_table.weight if output.weight is None else output.weight
        weight, bias = add_rows(own, self.size), None
        if output.bias is not None or self.size > len(own):
            known = torch.zeros(len(own)) if output.bias is None else output.bias
            bias = add_rows(known[:, None], self.size, IMPOSSIBLE_LOGIT)[:, 0]
        if self.rounded:
            return g.linear(x, weight, bias, "output")
        name = "target.table" if output.weight is None else "output.table"
        inputs = [g.op("Reshape", x, g.integers(-1, weight.size(1))), g.constant(weight, name)]
        if bias is not None:
            inputs.append(g.constant(bias, "output.bias"))
        shape = g.op("Concat", g.op("Shape", x, start=0, end=2), g.integers(self.size), axis=0)
        return g.op("Reshape", g.op("Gemm", *inputs, transB=1), shape)


def _norm(layer: Layer, place: int) -> Residual:
    return cast(Residual, layer.residuals[place])


def _residual(
    g: Graph, x: str, sublayer: Callable[[str], str], residual: Residual, name: str
) -> str:
    if residual.pre:
        return g.op("Add", x, sublayer(g.norm(x, residual.norm, name)))
    return g.norm(g.op("Add", x, sublayer(x)), residual.norm, name)


def _end(g: Graph, x: str, stack: Stack, name: str) -> str:
    return x if stack.final_norm is None else g.norm(x, stack.final_norm, f"{name}.norm")


def _activated(g: Graph, x: str, kind: str) -> str:
    if kind == "relu":
        return g.op("Relu", x)
    if kind == "swish":
        return g.op("Mul", x, g.op("Sigmoid", x))
    share = g.op("Erf", g.op("Mul", x, g.real(math.sqrt(0.5))))
    return g.op("Mul", x, g.op("Mul", g.op("Add", share, g.real(1.0)), g.real(0.5)))


def _seen(g: Graph, mask: str) -> str:
    """Turn a mask [B, S] of ones and zeros into one of all pairs, [B, 1, 1, S]."""
    return g.op("Unsqueeze", g.op("Cast", mask, to=9), g.integers(1, 2))  # 9: booleans


def _earlier(g: Graph, ids: str) -> str:
    """Draw which position sees which, [T, T]: itself and those before."""
    length = g.op("Squeeze", g.op("Shape", ids, start=1, end=2))
    places = g.op("Range", g.constant(np.int64(0)), length, g.constant(np.int64(1)))
    keys, queries = (g.op("Unsqueeze", places, g.integers(axis)) for axis in (0, 1))
    return g.op("LessOrEqual", keys, queries)
