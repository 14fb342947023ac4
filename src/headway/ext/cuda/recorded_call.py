"""A function that a GPU records once and then replays with a single launch."""

import functools
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakSet

import torch

if TYPE_CHECKING:
    from torch.cuda import _POOL_HANDLE

logger = logging.getLogger(__name__)
_one_at_a_time = threading.Lock()  # torch records one graph at a time in a process


@functools.cache
def recording_stream(device: torch.device) -> torch.cuda.Stream:
    """Return the stream on which a GPU records.

    There is one for each GPU: matrix libraries keep workspace for every stream that they have seen. The
    stream that torch would choose might belong to another GPU.
    """
    return torch.cuda.Stream(device)


class GraphMemory:
    """The memory that recordings share.

    They may share memory, because they run one after the other, and each one's results are in tensors that
    were allocated elsewhere, or are read before the next one runs.

    Args:
        device: Of the recordings; nothing is allocated before the first recording.
        work: What the recordings are for, for a message: "training", say.

    Attributes:
        can_record: Whether the device is a GPU on which no recording has failed.
    """

    def __init__(self, device: torch.device, work: str) -> None:
        self.device, self.work = device, work
        self.can_record = device.type == "cuda"
        self._graphs: WeakSet[torch.cuda.CUDAGraph] = WeakSet()

    @property
    def pool(self) -> "_POOL_HANDLE | None":
        """The pool of a recording that still exists: torch refuses a pool that no recording uses."""
        return next((graph.pool() for graph in self._graphs), None)

    def record(self, function: Callable[[], None]) -> torch.cuda.CUDAGraph | None:
        """Record a function; recording computes nothing.

        Returns:
            The recording; None if it failed. Then nothing more is recorded.
        """
        graph, before = torch.cuda.CUDAGraph(), torch.cuda.current_stream(self.device)
        try:
            # Other threads may allocate memory meanwhile.
            with (
                _one_at_a_time,
                torch.cuda.graph(
                    graph, pool=self.pool, stream=recording_stream(self.device),
                    capture_error_mode="thread_local",
                ),
            ):  # fmt: skip
                function()
        except RuntimeError as error:
            torch.cuda.set_stream(before)  # a recording that fails leaves its own stream behind
            self.can_record = False
            logger.warning(
                "%s is slower: a computation cannot be recorded as a CUDA graph: %s",
                self.work,
                error,
            )
            return None
        self._graphs.add(graph)
        return graph


class RecordedCall:
    """Calls a function; on a GPU the second call records a CUDA graph, which later calls replay.

    The first call is an ordinary one, so that libraries allocate what they need before the recording.
    Where there is no GPU, every call is an ordinary one. The same holds if a recording fails.

    Args:
        memory: Of this step and of others.
        is_warm: Whether the function was called before, so that the first call records.
    """

    def __init__(self, memory: GraphMemory, *, is_warm: bool = False) -> None:
        self.memory = memory
        self.is_warm = is_warm
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, function: Callable[[], None]) -> None:
        """Call the function, or replay it.

        Args:
            function: The same in every call. It reads and writes the same tensors each time, and never
                waits for the GPU. It is not kept, because it usually refers to the owner of this step:
                the memory of a GPU would wait for Python's garbage collector.
        """
        if self.graph is None and self.is_warm and self.memory.can_record:
            self.graph = self.memory.record(function)
        self.is_warm = True
        if self.graph is None:
            function()
        else:
            self.graph.replay()
