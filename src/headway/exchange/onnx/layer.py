"""One layer of a model as operators of an ONNX graph.

Shapes: B batch, S source length, T target length, D d_model, H heads, K d_k, V d_v.
Paper: sections 3.1 to 3.3.
"""

import math
from typing import NamedTuple, cast

import numpy as np

from headway.config import ModelConfig
from headway.exchange.onnx.graph import Graph
from headway.model import MultiHeadAttention, SelfAttention
from headway.model.layers import Layer, Residual

HIDDEN_SCORE = float(np.finfo(np.float32).min)


class Memory(NamedTuple):
    """What an attention reads: names of keys [B, H, S, K] and values [B, H, S, V]."""

    keys: str
    values: str


class LayerBuilder:
    """Adds the operators of one layer to a graph.

    Args:
        graph: The graph.
        config: The model's settings.
        layer: The layer.
        name: A prefix of the names of its weights.
    """

    def __init__(self, graph: Graph, config: ModelConfig, layer: Layer, name: str) -> None:
        self.graph, self.config, self.layer, self.name = graph, config, layer, name
        self.residuals = [cast("Residual", residual) for residual in layer.residuals]

    def self_attention(self, x: str, mask: str, past: Memory | None) -> tuple[str, Memory]:
        """Apply self-attention and its residual connection.

        Args:
            x: [B, T, D].
            mask: Which positions may be read; an empty name if all may.
            past: Keys and values of earlier positions.

        Returns:
            The output, and the keys and values of all positions.
        """
        attention = cast("SelfAttention", self.layer.mixer).attention
        y = self._norm_before(x, 0)
        memory = self._memory(y, attention, "self")
        if past is not None:
            memory = Memory(
                self.graph.op("Concat", past.keys, memory.keys, axis=2),
                self.graph.op("Concat", past.values, memory.values, axis=2),
            )
        y = self._attend(y, memory, mask, attention, "self")
        return self._add_and_norm(x, y, 0), memory

    def source_memory(self, hidden: str) -> Memory:
        """Return the keys and values of the source, from the encoder's output [B, S, D]."""
        return self._memory(hidden, cast("MultiHeadAttention", self.layer.cross), "cross")

    def cross_attention(self, x: str, memory: Memory, mask: str) -> str:
        """Apply the attention to the source and its residual connection."""
        cross = cast("MultiHeadAttention", self.layer.cross)
        y = self._attend(self._norm_before(x, 1), memory, mask, cross, "cross")
        return self._add_and_norm(x, y, 1)

    def feed_forward(self, x: str) -> str:
        """Apply the feed-forward network and its residual connection."""
        last = len(self.residuals) - 1
        inner, outer = self.layer.feed_forward.inner, self.layer.feed_forward.outer
        y = self._norm_before(x, last)
        y = self.graph.linear(y, inner.weight, inner.bias, f"{self.name}.inner")
        y = self._activate(y)
        y = self.graph.linear(y, outer.weight, outer.bias, f"{self.name}.outer")
        return self._add_and_norm(x, y, last)

    def _norm_before(self, x: str, place: int) -> str:
        residual = self.residuals[place]
        return self._norm(x, place) if residual.pre else x

    def _add_and_norm(self, x: str, y: str, place: int) -> str:
        total = self.graph.op("Add", x, y)
        return total if self.residuals[place].pre else self._norm(total, place)

    def _norm(self, x: str, place: int) -> str:
        return self.graph.layer_norm(x, self.residuals[place].norm, f"{self.name}.norm.{place}")

    def _memory(self, x: str, attention: MultiHeadAttention, kind: str) -> Memory:
        return Memory(
            self._project(x, attention, kind, "key"), self._project(x, attention, kind, "value")
        )

    def _project(self, x: str, attention: MultiHeadAttention, kind: str, part: str) -> str:
        """Project [B, T, D] and split it into heads, [B, H, T, K]."""
        linear = getattr(attention, part)
        y = self.graph.linear(x, linear.weight, linear.bias, f"{self.name}.{kind}.{part}")
        heads = self.graph.integers(0, 0, self.config.num_heads, -1)
        return self.graph.op("Transpose", self.graph.op("Reshape", y, heads), perm=[0, 2, 1, 3])

    def _attend(
        self, x: str, memory: Memory, mask: str, attention: MultiHeadAttention, kind: str
    ) -> str:
        """Attend from [B, T, D] to a memory."""
        graph = self.graph
        query = self._project(x, attention, kind, "query")
        if self.config.scale_attention:
            query = graph.op("Mul", query, graph.number(self.config.head_widths[0] ** -0.5))
        scores = graph.op("MatMul", query, graph.op("Transpose", memory.keys, perm=[0, 1, 3, 2]))
        if mask:
            scores = graph.op("Where", mask, scores, graph.number(HIDDEN_SCORE))
        y = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), memory.values)
        y = graph.op("Transpose", y, perm=[0, 2, 1, 3])
        output = attention.output
        y = graph.op("Reshape", y, graph.integers(0, 0, output.weight.size(1)))
        return graph.linear(y, output.weight, output.bias, f"{self.name}.{kind}.output")

    def _activate(self, x: str) -> str:
        graph = self.graph
        match self.config.activation:
            case "relu":
                return graph.op("Relu", x)
            case "swish":
                return graph.op("Mul", x, graph.op("Sigmoid", x))
            case "gelu":  # x (1 + erf(x / sqrt(2))) / 2
                erf = graph.op("Erf", graph.op("Mul", x, graph.number(math.sqrt(0.5))))
                half = graph.op("Mul", graph.op("Add", erf, graph.number(1.0)), graph.number(0.5))
                return graph.op("Mul", x, half)
