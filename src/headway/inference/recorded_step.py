"""A function that a GPU records once and then replays with a single launch."""

import logging
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch.cuda import _POOL_HANDLE

logger = logging.getLogger(__name__)


class GraphMemory:
    """The memory that the recorded steps of an engine share.

    The steps may share it, because they run one after the other and leave their results in tensors
    that were allocated elsewhere.
    """

    @cached_property
    def pool(self) -> "_POOL_HANDLE":
        """The handle of the memory pool; made at the first recording, because it needs a GPU."""
        return torch.cuda.graph_pool_handle()


class RecordedStep:
    """Calls a function; on a GPU the second call records a CUDA graph, which later calls replay.

    The first call is an ordinary one, so that libraries allocate what they need before the recording.
    Where there is no GPU, every call is an ordinary one. The same holds if a recording fails.

    Args:
        function: It reads and writes the same tensors each time, and never waits for the GPU.
        device: Where it computes.
        memory: Of the engine.
    """

    def __init__(
        self, function: Callable[[], None], device: torch.device, memory: GraphMemory
    ) -> None:
        self.function, self.memory = function, memory
        self.can_record = device.type == "cuda"
        self.is_warm = False
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        """Call the function, or replay it."""
        if self.can_record and self.is_warm and self.graph is None:
            self._record()
        self.is_warm = True
        if self.graph is None:
            self.function()
        else:
            self.graph.replay()

    def _record(self) -> None:
        """Record the function; recording computes nothing."""
        graph = torch.cuda.CUDAGraph()
        try:
            # Other threads may allocate memory meanwhile.
            with torch.cuda.graph(graph, pool=self.memory.pool, capture_error_mode="thread_local"):
                self.function()
        except RuntimeError as error:
            self.can_record = False
            logger.warning(
                "decoding is slower: a step cannot be recorded as a CUDA graph: %s", error
            )
            return
        self.graph = graph
