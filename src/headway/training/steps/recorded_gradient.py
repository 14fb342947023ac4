"""The gradient of a micro-batch, which a GPU records once and then replays.

A step of a small model starts a thousand short kernels, and the processor needs longer to start them than the
GPU to run them. A replay starts them all at once. What changes between micro-batches of one shape is copied
into the tensors that the recording reads: the tokens, and the numbers of the dropout masks.
"""

from collections.abc import Callable
from dataclasses import fields, replace

import torch
from torch import Tensor

from headway.kernels.device_dropout import MaskTape
from headway.kernels.packing import Packing
from headway.kernels.recorded_step import GraphMemory, RecordedStep
from headway.kernels.torch_private import copy_each_
from headway.text.batches import Batch
from headway.training.steps.gradient_tree import Gradient

Compute = Callable[[Batch, Tensor], Gradient]
MOST_SHAPES = (
    4  # rows with unusually many sentences have longer lists; a run has hardly more than two shapes
)


class RecordedGradient:
    """Computes what a function computes, with the same bits, from the second batch of a shape on by replays.

    Args:
        compute: Returns the gradient of a micro-batch, given the target tokens of the step as a scalar. Its
            random numbers are dropout masks only, and it never waits for the GPU.
        device: Of all tensors. Where it is no GPU, nothing is recorded.
    """

    def __init__(self, compute: Compute, device: torch.device) -> None:
        self._compute = compute
        self._memory = GraphMemory(device)
        self._recordings: dict[object, _Recording] = {}

    def __call__(self, batch: Batch, tokens: Tensor) -> Gradient:
        """Return the gradient, in tensors of its own.

        Args:
            batch: A packed row with packings.
            tokens: Target tokens of the step, a scalar.
        """
        shape = [tensor.shape for tensor in _tensors_of(batch)]
        key = (*shape, *(packing and packing.longest for packing in _packings_of(batch)))
        if key in self._recordings:
            return self._recordings[key](batch, tokens)
        tape = MaskTape()
        with tape.listing():
            gradient = self._compute(batch, tokens)
        if len(self._recordings) < MOST_SHAPES:
            step = RecordedStep(self._memory, is_warm=True)
            self._recordings[key] = _Recording(self._compute, step, tape, batch, tokens)
        return gradient


class _Recording:
    """The computation for batches of one shape.

    Args:
        compute: See `RecordedGradient`.
        step: Has not recorded yet.
        tape: Has listed the masks of the computation.
        batch: Any batch of the shape; other ones will overwrite its copy.
        tokens: A scalar; likewise.
    """

    def __init__(
        self, compute: Compute, step: RecordedStep, tape: MaskTape, batch: Batch, tokens: Tensor
    ) -> None:
        self._compute = compute
        self._step = step
        self._tape = tape
        self._batch = _clone(batch)
        self._tokens = tokens.clone()
        self._gradient: Gradient = []

    def __call__(self, batch: Batch, tokens: Tensor) -> Gradient:
        device = tokens.device
        self._tape.draw(device)
        copy_each_(
            [*_tensors_of(self._batch), self._tokens],
            [*_tensors_of(batch), tokens],
        )
        if self._step.graph is None and device.type == "cuda":
            torch.cuda.empty_cache()  # the recording has memory of its own
        self._step(self._run)
        # The next replay overwrites its results.
        results = [torch.empty_like(tensor) for tensor in self._gradient]
        copy_each_(results, self._gradient)
        return results

    def _run(self) -> None:
        with self._tape.reading():
            self._gradient = self._compute(self._batch, self._tokens)


def _packings_of(batch: Batch) -> list[Packing | None]:
    return [batch.source_packing, batch.target_packing]


def _tensors_of(batch: Batch) -> list[Tensor]:
    """Return all tensors of a batch, always in the same order."""
    parts: list[Batch | Packing] = [batch, *(packing for packing in _packings_of(batch) if packing)]
    values = (getattr(part, field.name) for part in parts for field in fields(part))
    return [value for value in values if isinstance(value, Tensor)]


def _clone(batch: Batch) -> Batch:
    """Return a copy of a batch with tensors of its own."""

    def clone(part: Batch | Packing) -> dict[str, Tensor]:
        values = {field.name: getattr(part, field.name) for field in fields(part)}
        return {name: v.clone() for name, v in values.items() if isinstance(v, Tensor)}

    source, target = (p and replace(p, **clone(p)) for p in _packings_of(batch))  # type: ignore[arg-type]
    return replace(batch, **clone(batch), source_packing=source, target_packing=target)  # type: ignore[arg-type]
