"""The engine that runs every model on every device, in plain torch."""

import copy
from collections.abc import Sequence
from contextlib import ExitStack

import torch
from torch import Tensor

from headway.inference.alignment import LayerChoice, alignment_layers
from headway.inference.batching import pad_right
from headway.inference.engines.low_precision import reduce_precision
from headway.inference.engines.step_decoding import StepDecoding
from headway.inference.search.beam_search import Ids
from headway.model import DecoderState, Segments, Transformer, watch

GPU_TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


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
        """Start hypotheses; see `headway.inference.engines.engine.Engine`. The state grows with their length."""
        ids, real = pad_right(sources, self.model.config.source_vocab_size - 1)
        segments = Segments(real.to(self.device), is_packed=False)
        state = self.model.start(self.model.encode(ids.to(self.device), segments), segments)
        pad = self.model.config.target_vocab_size - 1
        return StepDecoding(self.model.step, state, pad, self.device, choices)

    def attend(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        layers: LayerChoice = alignment_layers,
    ) -> list[Tensor]:
        """Return the weights of a forward pass; see `headway.inference.engines.engine.Engine`."""
        source_BS, segments_BS = pad_right(sources, 0)
        target_BT, _ = pad_right(targets, 0)
        with ExitStack() as stack:
            numbers = layers(self.model.config)
            names = [f"decoder.layers.{number}.cross" for number in numbers]
            seen = {name: stack.enter_context(watch(self.model, name)) for name in names}
            self.model.hidden(*(x.to(self.device) for x in (source_BS, target_BT, segments_BS)))
        of_layers = [record.attention[name].float().mean(1) for name, record in seen.items()]
        weights_BTS = torch.stack(of_layers).mean(0).cpu()
        return [
            weights_TS[: len(target), : len(source)]
            for source, target, weights_TS in zip(sources, targets, weights_BTS, strict=True)
        ]
