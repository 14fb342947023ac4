"""A Headway model as three ONNX graphs: the encoder, and the decoder without and with a past.

The operators of opset 17 express the paper's model exactly, and pre-norm, biases and learned positions,
too. The names of inputs and outputs are those of Hugging Face's Optimum.

torch's exporter is not used: it cannot trace the model's own forward with dynamic lengths, so the model
would have to be written a second time all the same; docs/exchange.md has the comparison.

Shapes: B batch, S source length, T target length, D d_model, H heads, K d_k, V d_v.
Paper: section 3.
"""

import math
from typing import NamedTuple, cast

import numpy as np
import torch

from headway.config import ModelConfig
from headway.exchange.huggingface.to_marian import add_rows
from headway.exchange.onnx.graph import BOOL, Graph
from headway.exchange.placeholders import IMPOSSIBLE_LOGIT
from headway.model import MultiHeadAttention, SelfAttention, Transformer
from headway.model.layers import Layer, Residual, Stack

HIDDEN_SCORE = float(np.finfo(np.float32).min)


class Memory(NamedTuple):
    """What an attention reads: names of keys [B, H, S, K] and values [B, H, S, V]."""

    keys: str
    values: str


class Exporter:
    """Builds the graphs of a model.

    Args:
        model: A model that `headway.exchange.onnx.writer.find_refusals` accepts.
        size: The size of both vocabularies, at least what they have; ``<pad>`` becomes the last entry.
        rows: The number of positions of sinusoidal tables.
        is_rounded: Whether matrices are stored in 8 bits.
    """

    def __init__(self, model: Transformer, size: int, rows: int, *, is_rounded: bool) -> None:
        self.model, self.config = model, model.config
        self.size, self.rows, self.is_rounded = size, rows, is_rounded

    @torch.no_grad()
    def encoder(self) -> bytes:
        """Return the graph from ``input_ids`` and ``attention_mask`` to ``last_hidden_state``."""
        graph, model = Graph(is_rounded=self.is_rounded), self.model
        ids = graph.add_input("input_ids", np.int64, "batch", "source")
        mask = graph.add_input("attention_mask", np.int64, "batch", "source")
        mask = _source_mask(graph, mask)
        table = add_rows(model.source_embedding.weight, self.size)
        x = graph.embed(ids, table, model.source_embedding, "source.table")
        first = graph.integers(0)
        x = graph.add_positions(x, model.source_positions, first, self.rows, "source.positions")
        for number, layer in enumerate(model.encoder.layers):
            builder = LayerBuilder(graph, self.config, layer, f"encoder.{number}")
            x, _ = builder.self_attention(x, mask, None)
            x = builder.feed_forward(x)
        x = _final_norm(graph, x, model.encoder, "encoder")
        graph.add_output("last_hidden_state", x, "batch", "source", self.config.d_model)
        return graph.serialize()

    @torch.no_grad()
    def decoder(self) -> bytes:
        """Return the graph of the decoder that reads a whole prefix and ``encoder_hidden_states``."""
        graph = Graph(is_rounded=self.is_rounded)
        ids = graph.add_input("input_ids", np.int64, "batch", "target")
        mask = graph.add_input("encoder_attention_mask", np.int64, "batch", "source")
        mask = _source_mask(graph, mask)
        width = self.config.d_model
        hidden = graph.add_input("encoder_hidden_states", np.float32, "batch", "source", width)
        causal = _causal_mask(graph, ids)
        x = self._embed_target(graph, ids, graph.integers(0))
        presents: dict[str, Memory] = {}
        for number, layer in enumerate(self.model.decoder.layers):
            builder = LayerBuilder(graph, self.config, layer, f"decoder.{number}")
            x, own = builder.self_attention(x, causal, None)
            source = builder.source_memory(hidden)
            x = builder.cross_attention(x, source, mask)
            x = builder.feed_forward(x)
            presents |= {f"{number}.decoder": own, f"{number}.encoder": source}
        self._add_outputs(graph, x, "target", presents)
        return graph.serialize()

    @torch.no_grad()
    def decoder_with_past(self) -> bytes:
        """Return the graph of the decoder that reads one more token, given a cache.

        The cache has the keys and values of the earlier tokens and of the source.
        """
        graph = Graph(is_rounded=self.is_rounded)
        ids = graph.add_input("input_ids", np.int64, "batch", 1)
        mask = graph.add_input("encoder_attention_mask", np.int64, "batch", "source")
        mask = _source_mask(graph, mask)
        count = len(self.model.decoder.layers)
        pasts = [
            (
                self._add_past(graph, i, "decoder", "past"),
                self._add_past(graph, i, "encoder", "source"),
            )
            for i in range(count)
        ]
        x = self._embed_target(graph, ids, graph.op("Shape", pasts[0][0].keys, start=2, end=3))
        presents: dict[str, Memory] = {}
        for number, (layer, (past, source)) in enumerate(
            zip(self.model.decoder.layers, pasts, strict=True)
        ):
            builder = LayerBuilder(graph, self.config, layer, f"decoder.{number}")
            x, presents[f"{number}.decoder"] = builder.self_attention(x, "", past)
            x = builder.cross_attention(x, source, mask)
            x = builder.feed_forward(x)
        self._add_outputs(graph, x, 1, presents)
        return graph.serialize()

    def _embed_target(self, graph: Graph, ids: str, first: str) -> str:
        model = self.model
        table = add_rows(model.target_table.weight, self.size)
        x = graph.embed(ids, table, model.target_table, "target.table")
        return graph.add_positions(x, model.target_positions, first, self.rows, "target.positions")

    def _add_past(self, graph: Graph, layer: int, side: str, length: str) -> Memory:
        heads, (d_k, d_v) = self.config.num_heads, self.config.head_widths
        name = f"past_key_values.{layer}.{side}"
        return Memory(
            graph.add_input(f"{name}.key", np.float32, "batch", heads, length, d_k),
            graph.add_input(f"{name}.value", np.float32, "batch", heads, length, d_v),
        )

    def _add_outputs(
        self, graph: Graph, x: str, length: str | int, presents: dict[str, Memory]
    ) -> None:
        """Add the logits and the cache for the next step."""
        x = _final_norm(graph, x, self.model.decoder, "decoder")
        graph.add_output("logits", self._logits(graph, x), "batch", length, self.size)
        heads, (d_k, d_v) = self.config.num_heads, self.config.head_widths
        for name, memory in presents.items():
            positions = "source" if name.endswith("encoder") else "present"
            graph.add_output(f"present.{name}.key", memory.keys, "batch", heads, positions, d_k)
            graph.add_output(f"present.{name}.value", memory.values, "batch", heads, positions, d_v)

    def _logits(self, graph: Graph, x: str) -> str:
        """Map [B, T, D] to logits; a tied output matrix is the stored embedding."""
        output = self.model.output
        if output.reduce is not None:
            x = graph.linear(x, output.reduce.weight, None, "output.reduce")
        if output.scale != 1:
            x = graph.op("Mul", x, graph.number(output.scale))
        own = self.model.target_table.weight if output.weight is None else output.weight
        weight, bias = add_rows(own, self.size), None
        if output.bias is not None or self.size > len(own):
            known = torch.zeros(len(own)) if output.bias is None else output.bias
            bias = add_rows(known[:, None], self.size, IMPOSSIBLE_LOGIT)[:, 0]
        if self.is_rounded:
            return graph.linear(x, weight, bias, "output")
        # MatMul needs the matrix transposed, which would store a tied one twice; Gemm does not.
        name = "target.table" if output.weight is None else "output.table"
        rows = graph.op("Reshape", x, graph.integers(-1, weight.size(1)))
        inputs = [rows, graph.constant(weight, name)]
        if bias is not None:
            inputs.append(graph.constant(bias, "output.bias"))
        leading = graph.op("Shape", x, start=0, end=2)
        shape = graph.op("Concat", leading, graph.integers(self.size), axis=0)
        return graph.op("Reshape", graph.op("Gemm", *inputs, transB=1), shape)


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


def _final_norm(graph: Graph, x: str, stack: Stack, name: str) -> str:
    if stack.final_norm is None:
        return x
    return graph.layer_norm(x, stack.final_norm, f"{name}.norm")


def _source_mask(graph: Graph, mask: str) -> str:
    """Turn a mask [B, S] of ones and zeros into booleans [B, 1, 1, S]."""
    return graph.op("Unsqueeze", graph.op("Cast", mask, to=BOOL), graph.integers(1, 2))


def _causal_mask(graph: Graph, ids: str) -> str:
    """Return booleans [T, T]: each position may read itself and the earlier ones."""
    length = graph.op("Squeeze", graph.op("Shape", ids, start=1, end=2))
    positions = graph.op("Range", graph.constant(np.int64(0)), length, graph.constant(np.int64(1)))
    keys, queries = (graph.op("Unsqueeze", positions, graph.integers(axis)) for axis in (0, 1))
    return graph.op("LessOrEqual", keys, queries)
