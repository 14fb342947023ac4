"""The gradient of a micro-batch, which a GPU records once and then replays.

A step of a small model starts a thousand short kernels, and the processor needs longer to start them than the
GPU to run them. A replay starts them all at once. What changes between micro-batches of one shape is copied
into the tensors that the recording reads: the tokens, and the numbers of the dropout masks.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from headway.errors import is_out_of_memory
from headway.ext.cuda.dropout import MaskTape
from headway.ext.cuda.recorded_call import GraphMemory, RecordedCall
from headway.model import Network
from headway.text import Batch
from headway.torch_private import for_each
from headway.training import Gradient

# Given a micro-batch and the target tokens of the step as a scalar.
Compute = Callable[[Batch, Tensor], Gradient]
# Rows with unusually many sentences have longer lists; a run has hardly more than two shapes.
MOST_SHAPES = 4


class RecordedGradient:
    """Computes what a function computes, with the same bits, from the second batch of a shape on by replays.

    A computation that draws other random numbers than dropout masks is never recorded.

    Args:
        model: Whose gradient it is.
        device: Of all tensors. Where it is no GPU, nothing is recorded.
    """

    def __init__(self, model: Network, device: torch.device) -> None:
        self._model, self._device = model, device
        self._memory = GraphMemory(device, "training")
        self._recordings: dict[object, _Recording | None] = {}  # None: cannot be recorded

    def __call__(self, compute: Compute, batch: Batch, tokens: Tensor) -> Gradient:
        """Return the gradient; the next call does not change its tensors.

        Args:
            compute: The same in every call; it never waits for the GPU. It is not kept, because it usually
                refers to the owner of this object.
            batch: A packed row with packings.
            tokens: Target tokens of the step, a scalar.
        """
        packings = (batch.source_packing, batch.target_packing)
        longest = [packing.longest for packing in packings if packing is not None]
        key = (*(tensor.shape for tensor in batch.tensors()), *longest)
        if recording := self._recordings.get(key):
            return recording(compute, batch, tokens)
        if key in self._recordings or len(self._recordings) == MOST_SHAPES:
            return compute(batch, tokens)
        tape = MaskTape()
        before = self._generators()
        gradient = self._list_masks(tape, compute, batch, tokens)
        after = self._generators()
        torch.set_rng_state(before[0])
        tape.draw(self._device)
        expected = [torch.get_rng_state(), *before[1:]]
        torch.set_rng_state(after[0])
        draws_only_masks = all(map(torch.equal, after, expected))
        self._recordings[key] = (
            _Recording(self._memory, self._model, tape, batch, tokens) if draws_only_masks else None
        )
        return gradient

    @property
    def has_recorded(self) -> bool:
        """Whether a GPU replays the gradient of batches of some shape."""
        return any(each is not None and each.is_recorded for each in self._recordings.values())

    def _list_masks(
        self, tape: MaskTape, compute: Compute, batch: Batch, tokens: Tensor
    ) -> Gradient:
        """Compute a gradient, and list its masks.

        Recordings hold memory that an ordinary computation cannot have. If it lacks memory, they go.
        """
        before = self._generators()
        try:
            with tape.listing():
                return compute(batch, tokens)
        except RuntimeError as error:
            if not is_out_of_memory(error) or not any(self._recordings.values()):
                raise
        tape.masks.clear()
        self._recordings = dict.fromkeys(self._recordings)
        torch.cuda.empty_cache()
        self._set_generators(before)
        with tape.listing():
            return compute(batch, tokens)

    def _generators(self) -> list[Tensor]:
        """Return the states of torch's generators, that of the processor first."""
        states = [torch.get_rng_state()]
        return (
            [*states, torch.cuda.get_rng_state(self._device)]
            if self._device.type == "cuda"
            else states
        )

    def _set_generators(self, states: list[Tensor]) -> None:
        torch.set_rng_state(states[0])
        if self._device.type == "cuda":
            torch.cuda.set_rng_state(states[1], self._device)


class _Recording:
    """The computation for batches of one shape.

    Args:
        memory: Of all recordings.
        model: A recording reads its tensors where they were.
        tape: Has listed the masks of the computation.
        batch: Any batch of the shape; other ones will overwrite its copy.
        tokens: A scalar; likewise.
    """

    def __init__(
        self, memory: GraphMemory, model: Network, tape: MaskTape, batch: Batch, tokens: Tensor
    ) -> None:
        self._step = RecordedCall(memory, is_warm=True)
        self._tape = tape
        self._batch = batch.map(Tensor.clone)
        self._tokens = tokens.clone()
        # A longer input replaces the table of positions. Its first rows are those of the table that was recorded.
        self._buffers = list(model.buffers())
        self._gradient: Gradient = []

    def __call__(self, compute: Compute, batch: Batch, tokens: Tensor) -> Gradient:
        self._tape.draw(tokens.device)
        for_each("copy_", [*self._batch.tensors(), self._tokens], [*batch.tensors(), tokens])
        self._step(partial(self._run, compute))
        if not self.is_recorded:
            gradient, self._gradient = self._gradient, []
            return gradient
        # The next replay overwrites its results.
        results = [torch.empty_like(tensor) for tensor in self._gradient]
        for_each("copy_", results, self._gradient)
        return results

    @property
    def is_recorded(self) -> bool:
        """Whether there is a recording."""
        return self._step.graph is not None

    def _run(self, compute: Compute) -> None:
        with self._tape.reading():
            self._gradient = compute(self._batch, self._tokens)
