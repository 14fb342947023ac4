"""The engine that runs every model on every device, in plain torch."""

import copy
from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
import torch

from headway.model import DecoderState, Record, Segments, Transformer, watch
from headway.translation.batching import pad_right
from headway.translation.engines.low_precision import reduce_precision
from headway.translation.engines.protocols import (
    Engine,
    GivenTarget,
    LayerChoice,
    take_log_probabilities,
)
from headway.translation.engines.step_decoding import StepDecoding
from headway.translation.search.beam_search import Ids

GPU_TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class PlainEngine(Engine):
    """Runs the `start` and `step` of the model itself.

    Args:
        model: In fp32; it is copied if the precision is another.
        precision: Of the matrix products.
    """

    def __init__(self, model: Transformer, precision: str = "fp32") -> None:
        self.model = model
        self.device = model.source_embedding.weight.device
        self.exact = model  # reads what is given, on a GPU
        if precision != "fp32" and self.device.type == "cuda":
            self.model = copy.deepcopy(model).to(GPU_TYPES[precision])
        elif precision != "fp32":
            self.model = reduce_precision(model, precision)

    def start(
        self,
        sources: Sequence[Sequence[int]],
        beams: int,
        limit: int,
        choices: Sequence[Ids] | None = None,
    ) -> StepDecoding[DecoderState]:
        """Start hypotheses; see `Engine`. The state grows with their length."""
        ids, real = pad_right(sources, self.model.config.source_vocab_size - 1)
        segments = Segments(real.to(self.device), is_packed=False)
        state = self.model.start(self.model.encode(ids.to(self.device), segments), segments)
        pad = self.model.config.target_vocab_size - 1
        return StepDecoding(self.model.step, state, pad, self.device, choices)

    def read(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        *,
        is_scored: bool = True,
        layers: LayerChoice | None = None,
    ) -> list[GivenTarget]:
        """Read targets by a forward pass; see `Engine`."""
        model = self.model if self.device.type == "cpu" else self.exact
        source_BS, segments_BS = pad_right(sources, 0)
        target_BT, _ = pad_right(targets, 0)
        batch = [x.to(self.device) for x in (source_BS, target_BT, segments_BS)]
        log_p_BT, weights_BTS = np.empty((len(targets), 0)), torch.empty(len(targets), 0, 0)
        names = [f"decoder.layers.{n}.cross" for n in layers(model.config)] if layers else []
        with watch(model, names) if names else nullcontext(Record()) as seen:
            output = model(*batch) if is_scored else model.hidden(*batch)
        if is_scored:
            log_p_BT = take_log_probabilities(output, batch[1]).cpu().numpy()
        if names:
            of_layers = [seen.attention[name].float().mean(1) for name in names]
            weights_BTS = torch.stack(of_layers).mean(0).cpu()
        return [
            GivenTarget(log_p_T[: len(target)], weights_TS[: len(target), : len(source)])
            for source, target, log_p_T, weights_TS in zip(
                sources, targets, log_p_BT, weights_BTS, strict=True
            )
        ]
