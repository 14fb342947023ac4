"""Engines, which run the steps of a model for a search: native code, or the model itself.

An engine starts a `Decoding` for a batch of token ids. The native engine runs attention models on a
CPU. The plain engine runs every model on every device; the native engine must give the same results.
"""

import copy
from collections.abc import Sequence
from typing import Protocol

import torch

from headway.errors import HeadwayError
from headway.inference.batching import pad_right
from headway.inference.beam_search import Decoding, Ids
from headway.inference.low_precision import reduce_precision
from headway.inference.native_engine import NativeEngine, is_supported
from headway.inference.sampling import Drawing
from headway.inference.step_decoding import StepDecoding
from headway.kernels import decoding
from headway.kernels.devices import has_bf16
from headway.model import Segments, Transformer


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
            self.model = reduce_precision(model, precision)

    def start(
        self,
        sources: Sequence[Sequence[int]],
        beams: int,
        limit: int,
        choices: Sequence[Ids] | None = None,
    ) -> Hypotheses:
        """Start hypotheses; see `Engine`. The state grows with their length."""
        ids, real = pad_right(sources, self.model.config.source_vocab_size - 1)
        segments = Segments(real.to(self.device), is_packed=False)
        state = self.model.start(self.model.encode(ids.to(self.device), segments), segments)
        pad = self.model.config.target_vocab_size - 1
        return StepDecoding(self.model.step, state, pad, self.device, choices)
