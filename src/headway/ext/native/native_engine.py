"""The engine that runs attention models in native code, on a CPU."""

import copy
from collections.abc import Sequence
from ctypes import CDLL, Array
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.ext.native import decoding
from headway.ext.native.hypotheses import NativeEnsemble, NativeHypotheses
from headway.model import Layer, Residual, SelfAttention, Stack, Transformer
from headway.translation import Engine, GivenTarget, Ids, LayerChoice


def make_native_engine(model: Transformer, precision: str) -> "NativeEngine | None":
    """Return the engine for a model on a processor; None: it cannot run this model. See `headway.extension.Extension`."""
    library = decoding.library()
    if library is None or (precision == "bf16" and not library.headway_has_bf16()):
        return None
    is_float = model.source_embedding.weight.dtype == torch.float32
    return NativeEngine(model, precision, library) if is_float and is_supported(model) else None


def is_supported(model: Transformer) -> bool:
    """Return whether native code has all parts of a model."""
    config = model.config
    return (
        not model.has_own_mixers
        and config.encoder_mixer == config.decoder_mixer == "attention"
        and config.compatibility == "dot"
        and config.window == 0
        and config.d_embedding in (0, config.d_model)
    )


class NativeEngine(Engine):
    """Runs a model in native code, on a packed copy of its weights.

    Args:
        model: In fp32, on the CPU, `is_supported`.
        precision: Of the matrix products; sums, normalization and attention are in fp32.
        library: From `headway.ext.native.decoding`.
    """

    is_parallel = True
    join = NativeEnsemble  # of the hypotheses of several such engines

    def __init__(self, model: Transformer, precision: str, library: CDLL) -> None:
        self.library, self.precision = library, precision
        self.config = config = model.config
        self.positions = copy.deepcopy((model.source_positions, model.target_positions))
        self._tables: list[Tensor | None] = [None, None]  # those of the longest texts so far
        # The structures hold pointers to these, which must stay alive.
        self.linears: list[decoding.PackedLinear] = []
        self.tensors: list[Tensor] = []
        d_k, d_v = config.head_widths
        source, target = model.source_embedding.weight, model.target_table.weight
        tied = target if model.output.weight is None else model.output.weight
        source_table = self._tensor(source)
        self.encoder = self._stack(model.encoder)
        self.decoder = self._stack(model.decoder)
        self.weights = decoding.NativeModel(
            d_model=config.d_model,
            d_ff=config.d_ff,
            heads=config.num_heads,
            d_k=d_k,
            d_v=d_v,
            encoder_layers=config.num_encoder_layers,
            decoder_layers=config.num_decoder_layers,
            pre_norm=config.norm == "pre",
            activation=decoding.ACTIVATIONS.index(config.activation),
            source_vocab=config.source_vocab_size,
            target_vocab=config.target_vocab_size,
            epsilon=config.norm_epsilon,
            attention_scale=d_k**-0.5 if config.scale_attention else 1.0,
            embedding_scale=model.source_embedding.scale,
            encoder=self.encoder,
            decoder=self.decoder,
            source_table=source_table,
            target_table=source_table if target is source else self._tensor(target),
            logits=self._linear((tied * model.output.scale, model.output.bias)),
        )
        for row, stack in enumerate((model.encoder, model.decoder)):
            if stack.final_norm is not None:
                self.weights.final_norms[row][:] = self._norm(stack.final_norm)

    def batch_limits(self, tokens: int, extra: int) -> tuple[int, int]:
        """Return how many tokens a batch of a search may have; see `Engine`."""
        return tokens, 0

    def start(
        self,
        sources: Sequence[Sequence[int]],
        beams: int,
        limit: int,
        choices: Sequence[Ids] | None = None,
    ) -> NativeHypotheses:
        """Encode sentences and start their hypotheses; see `Engine`."""
        hypotheses = self._encode(sources, beams, limit)
        if choices is not None:
            hypotheses.restrict(choices)
        return hypotheses

    def read(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        *,
        is_scored: bool = True,
        layers: LayerChoice | None = None,
    ) -> list[GivenTarget]:
        """Read targets by the steps of a search; see `Engine`."""
        # The longest targets come first: those that have ended are dropped from the end.
        order = sorted(range(len(targets)), key=lambda number: -len(targets[number]))
        pad = self.config.target_vocab_size - 1
        rows = [[pad, *targets[number]] for number in order]
        watched = layers(self.config) if layers else None
        log_p_NT = [np.empty(len(row) - 1 if is_scored else 0) for row in rows]
        weights_NTS = [
            np.empty((len(row) - 1, len(sources[number])) if watched else (0, 0), np.float32)
            for row, number in zip(rows, order, strict=True)
        ]
        hypotheses = self._encode([sources[number] for number in order], 1, len(rows[0]) - 1)
        for step in range(len(rows[0]) - 1):
            tokens_N = np.array([row[step : step + 2] for row in rows if step + 1 < len(row)])
            kept_N = np.arange(len(tokens_N))
            hypotheses.keep(kept_N)
            hypotheses.reorder(kept_N)
            next_N = tokens_N[:, 1] if is_scored else None
            log_p_N, weights_NS = hypotheses.read(tokens_N[:, 0], next_N, watched)
            if log_p_N is not None:
                for log_p_T, log_p in zip(log_p_NT, log_p_N, strict=False):
                    log_p_T[step] = log_p
            if weights_NS is not None:
                for weights_TS, weights_S in zip(weights_NTS, weights_NS, strict=False):
                    weights_TS[step] = weights_S[: weights_TS.shape[1]]
        found = {
            number: GivenTarget(log_p_T, torch.from_numpy(weights_TS))
            for number, log_p_T, weights_TS in zip(order, log_p_NT, weights_NTS, strict=True)
        }
        return [found[number] for number in range(len(found))]

    def _encode(self, sources: Sequence[Sequence[int]], beams: int, limit: int) -> NativeHypotheses:
        tables = [self._position_table(0, max(map(len, sources))), self._position_table(1, limit)]
        return NativeHypotheses(self.library, self.weights, self, sources, beams, limit, tables)

    def _position_table(self, side: int, length: int) -> Tensor | None:
        """Return the position encodings of the source (0) or the target (1), of enough rows; None: there are none."""
        positions, table = self.positions[side], self._tables[side]
        if positions.kind == "none":
            return None
        if table is None or table.size(0) < length:
            self._tables[side] = table = positions.table_of(length)
        return table

    def _stack(self, stack: Stack) -> Array[decoding.NativeLayer]:
        return (decoding.NativeLayer * len(stack.layers))(*map(self._layer, stack.layers))

    def _layer(self, layer: Layer) -> decoding.NativeLayer:
        assert isinstance(layer.mixer, SelfAttention)
        own, cross, feed = layer.mixer.attention, layer.cross, layer.feed_forward
        d_k, d_v = self.config.head_widths
        keys, values = (self._pad_outputs(own.key, d_k), self._pad_outputs(own.value, d_v))
        found = decoding.NativeLayer(
            query_key_value=self._linear(self._pad_outputs(own.query, d_k), keys, values),
            output=self._linear(self._pad_inputs(own.output, d_v)),
            inner=self._linear((feed.inner.weight, feed.inner.bias)),
            outer=self._linear((feed.outer.weight, feed.outer.bias)),
        )
        if cross is not None:
            keys, values = (self._pad_outputs(cross.key, d_k), self._pad_outputs(cross.value, d_v))
            found.cross_query = self._linear(self._pad_outputs(cross.query, d_k))
            found.cross_key_value = self._linear(keys, values)
            found.cross_output = self._linear(self._pad_inputs(cross.output, d_v))
        places = (0, 1, 2) if cross is not None else (0, 2)
        for place, residual in zip(places, layer.residuals, strict=True):
            found.norms[place][:] = self._norm(cast("Residual", residual).norm)
        return found

    def _pad_outputs(self, linear: nn.Linear, width: int) -> tuple[Tensor, Tensor | None]:
        """Pad the outputs of each head with zeros to whole SIMD vectors."""
        missing, heads = -width % decoding.LANES, self.config.num_heads
        weight = F.pad(linear.weight.unflatten(0, (heads, -1)), (0, 0, 0, missing)).flatten(0, 1)
        if linear.bias is None:
            return weight, None
        return weight, F.pad(linear.bias.unflatten(0, (heads, -1)), (0, missing)).flatten()

    def _pad_inputs(self, linear: nn.Linear, width: int) -> tuple[Tensor, Tensor | None]:
        """Pad the inputs from each head with zeros to whole SIMD vectors."""
        missing, heads = -width % decoding.LANES, self.config.num_heads
        weight = F.pad(linear.weight.unflatten(1, (heads, -1)), (0, missing)).flatten(1)
        return weight, linear.bias

    def _linear(self, *maps: tuple[Tensor, Tensor | None]) -> int:
        """Pack the weights and biases of maps of one input as one map; return its address."""
        weight = torch.cat([weight for weight, _ in maps])
        biases = [bias for _, bias in maps if bias is not None]
        bias = torch.cat(biases) if biases else None
        self.linears.append(decoding.PackedLinear(self.library, self.precision, weight, bias))
        return self.linears[-1].address

    def _norm(self, norm: nn.LayerNorm) -> tuple[int, int]:
        missing = -self.config.d_model % decoding.PANEL
        gain, bias = (self._tensor(F.pad(x, (0, missing))) for x in (norm.weight, norm.bias))
        return gain, bias

    def _tensor(self, tensor: Tensor) -> int:
        self.tensors.append(tensor.detach().clone().contiguous())
        return self.tensors[-1].data_ptr()
