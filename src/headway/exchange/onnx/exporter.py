"""A Headway model as three ONNX graphs: the encoder, and the decoder without and with a past.

The operators of opset 17 express the paper's model exactly, and pre-norm, biases and learned positions,
too. The names of inputs and outputs are those of Hugging Face's Optimum.

torch's exporter is not used: it cannot trace the model's own forward with dynamic lengths, so the model
would have to be written a second time all the same; docs/exchange.md has the comparison.

Shapes: B batch, S source length, T target length, D d_model.
Paper: section 3.
"""

import numpy as np
import torch

from headway.exchange.huggingface.to_marian import add_rows
from headway.exchange.onnx.graph import BOOL, Graph
from headway.exchange.onnx.layer import LayerBuilder, Memory
from headway.exchange.placeholders import IMPOSSIBLE_LOGIT
from headway.model import Transformer
from headway.model.layers import Stack


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
