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
    """The stream and the memory that the recordings of an engine share.

    The steps may share memory, because they run one after the other and leave their results in tensors
    that were allocated elsewhere.

    Args:
        device: Of the engine; nothing is allocated before the first recording.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device

    @cached_property
    def pool(self) -> "_POOL_HANDLE":
        """The handle of the memory pool."""
        return torch.cuda.graph_pool_handle()

    @cached_property
    def stream(self) -> torch.cuda.Stream:
        """The stream that records; torch's own might belong to another GPU."""
        return torch.cuda.Stream(self.device)


class RecordedStep:
    """Calls a function; on a GPU the second call records a CUDA graph, which later calls replay.

    The first call is an ordinary one, so that libraries allocate what they need before the recording.
    Where there is no GPU, every call is an ordinary one. The same holds if a recording fails.

    Args:
        function: It reads and writes the same tensors each time, and never waits for the GPU.
        memory: Of the engine.
    """

    def __init__(self, function: Callable[[], None], memory: GraphMemory) -> None:
        self.function, self.memory = function, memory
        self.can_record = memory.device.type == "cuda"
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
        graph, memory = torch.cuda.CUDAGraph(), self.memory
        before = torch.cuda.current_stream(memory.device)
        try:
            # Other threads may allocate memory meanwhile.
            with torch.cuda.graph(
                graph, pool=memory.pool, stream=memory.stream, capture_error_mode="thread_local"
            ):
                self.function()
        except RuntimeError as error:
            torch.cuda.set_stream(before)  # a recording that fails leaves its own stream behind
            self.can_record = False
            logger.warning(
                "decoding is slower: a step cannot be recorded as a CUDA graph: %s", error
            )
            return
        self.graph = graph
