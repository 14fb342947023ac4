"""Engines, which run the steps of a model for a search: native code, or the model itself.

An engine starts a `Decoding` for a batch of token ids. The native engine runs attention models on a
CPU. The plain engine runs every model on every device; the native engine must give the same results.
"""

import copy
from collections.abc import Sequence
from ctypes import CDLL, Array
from typing import Protocol, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.errors import HeadwayError
from headway.inference.rounding import round_linear_maps
from headway.inference.sampling import Drawing
from headway.inference.search import Candidates, Decoding, Ids
from headway.inference.step_decoding import StepDecoding
from headway.kernels import decoding
from headway.kernels.processor import has_bf16
from headway.model import Segments, SelfAttention, Transformer
from headway.model.layers import Layer, Residual, Stack


class Hypotheses(Decoding, Drawing, Protocol):
    """A `Decoding` that an engine starts; it serves searches and sampling."""


class Engine(Protocol):
    """A model that is ready to translate."""

    is_parallel: bool  # whether several batches may run at once, each on its own thread

    def start(
        self,
        sources: Sequence[Sequence[int]],
        beams: int,
        limit: int,
        choices: Sequence[Ids] | None = None,
    ) -> Hypotheses:
        """Encode sentences and start the hypotheses of their translations.

        Args:
            sources: Token ids of the sentences.
            beams: Hypotheses for each sentence.
            limit: Tokens of the longest hypothesis.
            choices: For each sentence the tokens that a search may choose, ascending, ``<pad>`` and
                ``</s>`` included; None: all tokens.
        """


def make_engine(model: Transformer, precision: str = "auto") -> Engine:
    """Return the fastest engine that can run a model.

    Args:
        model: In fp32 and evaluation mode, on its device; its weights are copied.
        precision: auto, fp32, bf16 or int8.

    Raises:
        HeadwayError: If the device of the model does not have the precision.
    """
    weight = model.source_embedding.weight
    precision = resolve_precision(precision, weight.device)
    library = decoding.library() if weight.device.type == "cpu" else None
    if library is not None and precision == "bf16" and not library.headway_has_bf16():
        library = None
    if library is None or weight.dtype != torch.float32 or not is_supported(model):
        return PlainEngine(model, precision)
    return NativeEngine(model, precision, library)


def resolve_precision(name: str, device: torch.device) -> str:
    """Return fp32, bf16 or int8: auto is bf16 on a GPU and fp32 elsewhere.

    Raises:
        HeadwayError: If the device does not have the precision.
    """
    if name == "auto":
        return "bf16" if device.type == "cuda" else "fp32"
    if name == "int8" and device.type == "cuda":
        raise HeadwayError("search.precision = 'int8' is for CPUs; use bf16 on a GPU")
    if name == "bf16" and device.type == "cpu" and not has_bf16(device):
        raise HeadwayError(
            "search.precision = 'bf16': this processor has no bf16 instructions; use fp32 or int8"
        )
    return name


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


class PlainEngine:
    """Runs the `start` and `step` of the model itself.

    Args:
        model: In fp32; it is copied if the precision is another.
        precision: Of the matrix products.
    """

    is_parallel = False

    def __init__(self, model: Transformer, precision: str = "fp32") -> None:
        self.model = model
        self.device = model.source_embedding.weight.device
        if precision != "fp32" and self.device.type == "cuda":
            self.model = copy.deepcopy(model).to(torch.bfloat16)
        elif precision != "fp32":
            self.model = round_linear_maps(model, precision)

    def start(
        self,
        sources: Sequence[Sequence[int]],
        beams: int,
        limit: int,
        choices: Sequence[Ids] | None = None,
    ) -> Hypotheses:
        """Start hypotheses; see `Engine`. The state grows with their length."""
        pad = self.model.config.source_vocab_size - 1
        width = max(map(len, sources))
        ids = torch.tensor([[*s, *[pad] * (width - len(s))] for s in sources])
        inside = torch.tensor([[1] * len(s) + [0] * (width - len(s)) for s in sources])
        ids, segments = ids.to(self.device), Segments(inside.to(self.device), is_packed=False)
        state = self.model.start(self.model.encode(ids, segments), segments)
        pad = self.model.config.target_vocab_size - 1
        return StepDecoding(self.model.step, state, pad, self.device, choices)


class NativeEngine:
    """Runs a model in native code, on a packed copy of its weights.

    Args:
        model: In fp32, on the CPU, `is_supported`.
        precision: Of the matrix products; sums, normalization and attention are in fp32.
        library: From `headway.kernels.decoding`.
    """

    is_parallel = True

    def __init__(self, model: Transformer, precision: str, library: CDLL) -> None:
        self.library, self.precision = library, precision
        self.config = config = model.config
        self.positions = copy.deepcopy((model.source_positions, model.target_positions))
        # The structures hold pointers to these, which must stay alive.
        self.linears: list[decoding.Linear] = []
        self.tensors: list[Tensor] = []
        d_k, d_v = config.head_widths
        source, target = model.source_embedding.weight, model.target_table.weight
        tied = target if model.output.weight is None else model.output.weight
        source_table = self._tensor(source)
        self.encoder = self._stack(model.encoder)
        self.decoder = self._stack(model.decoder)
        self.weights = decoding.Model(
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
            logits=self._linear(tied * model.output.scale, model.output.bias),
        )
        for row, stack in enumerate((model.encoder, model.decoder)):
            if stack.final_norm is not None:
                self.weights.final_norms[row][:] = self._norm(stack.final_norm)

    def start(
        self,
        sources: Sequence[Sequence[int]],
        beams: int,
        limit: int,
        choices: Sequence[Ids] | None = None,
    ) -> Hypotheses:
        """Start hypotheses; see `Engine`."""
        lengths = max(map(len, sources)), limit
        tables = [
            None if positions.kind == "none" else positions.table_of(length)
            for positions, length in zip(self.positions, lengths, strict=True)
        ]
        state = decoding.State(self.library, self.weights, sources, beams, limit, tables)
        if choices is not None:
            state.restrict(choices)
        return NativeHypotheses(self, state)

    def _stack(self, stack: Stack) -> Array[decoding.Layer]:
        return (decoding.Layer * len(stack.layers))(*map(self._layer, stack.layers))

    def _layer(self, layer: Layer) -> decoding.Layer:
        assert isinstance(layer.mixer, SelfAttention)
        own, cross, feed = layer.mixer.attention, layer.cross, layer.feed_forward
        d_k, d_v = self.config.head_widths
        keys, values = (self._pad_outputs(own.key, d_k), self._pad_outputs(own.value, d_v))
        found = decoding.Layer(
            query_key_value=self._fused_linear(self._pad_outputs(own.query, d_k), keys, values),
            output=self._linear(self._pad_inputs(own.output.weight, d_v), own.output.bias),
            inner=self._linear(feed.inner.weight, feed.inner.bias),
            outer=self._linear(feed.outer.weight, feed.outer.bias),
        )
        if cross is not None:
            found.cross_query = self._fused_linear(self._pad_outputs(cross.query, d_k))
            found.cross_key_value = self._fused_linear(
                self._pad_outputs(cross.key, d_k), self._pad_outputs(cross.value, d_v)
            )
            found.cross_output = self._linear(
                self._pad_inputs(cross.output.weight, d_v), cross.output.bias
            )
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

    def _pad_inputs(self, weight: Tensor, width: int) -> Tensor:
        """Pad the inputs from each head with zeros to whole SIMD vectors."""
        missing, heads = -width % decoding.LANES, self.config.num_heads
        return F.pad(weight.unflatten(1, (heads, -1)), (0, missing)).flatten(1)

    def _fused_linear(self, *maps: tuple[Tensor, Tensor | None]) -> int:
        biases = [bias for _, bias in maps if bias is not None]
        weight = torch.cat([weight for weight, _ in maps])
        return self._linear(weight, torch.cat(biases) if biases else None)

    def _linear(self, weight: Tensor, bias: Tensor | None) -> int:
        self.linears.append(decoding.Linear(self.library, self.precision, weight, bias))
        return self.linears[-1].address

    def _norm(self, norm: nn.LayerNorm) -> tuple[int, int]:
        missing = -self.config.d_model % decoding.PANEL
        gain, bias = (self._tensor(F.pad(x, (0, missing))) for x in (norm.weight, norm.bias))
        return gain, bias

    def _tensor(self, tensor: Tensor) -> int:
        self.tensors.append(tensor.detach().clone().contiguous())
        return self.tensors[-1].data_ptr()


class NativeHypotheses:
    """A `Decoding` whose state is in native code."""

    def __init__(self, engine: NativeEngine, state: decoding.State) -> None:
        self.engine, self.state = engine, state  # the state points to the weights of the engine
        self.reorder, self.keep, self.logits = state.reorder, state.keep, state.logits

    def candidates(self, tokens: Ids, wanted: int, forced: Ids | None) -> Candidates:
        """Read tokens [N] and return the best next tokens; see `Decoding`."""
        return Candidates(*self.state.select(tokens, wanted, forced))
