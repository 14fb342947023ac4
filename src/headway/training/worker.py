"""A worker process, which computes gradients with a copy of the model over the same weights.

Threads of one Python process share one interpreter lock, and a pass has hundreds of short
operations. Separate processes have separate locks. Weights and gradients are in memory that all
processes share, so only batches and two numbers travel, as pickled messages over a pipe.
"""

import copy
import pickle
import signal
import subprocess
import sys
import weakref
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe

import torch
from torch import Tensor, nn

from headway.config import TrainingConfig
from headway.errors import HeadwayError
from headway.kernels.dropout import Dropout
from headway.model import Network
from headway.text.batches import Batch
from headway.training.shared_tensors import SharedTensors
from headway.training.worker_process import ModelState, PlainBatch, Task

START = (
    "import sys; sys.path[:] = {path!r};"
    " from headway.training.worker_process import serve; serve({files})"
)


class WorkerEnded(HeadwayError):
    """A worker process of a training has ended."""


class Worker:
    """A worker process, started at once; it ends with this object or with this process.

    Args:
        model: The worker copies it, without its weights.
        weights: The model's weights, in shared memory.
        config: The settings of the objective.
        threads: Threads that the worker computes with.
        low_precision: Whether matrix products are in bfloat16.

    Raises:
        OSError: If no process can be started here.
        pickle.PicklingError, AttributeError, TypeError: If the model cannot be pickled.
    """

    def __init__(
        self,
        model: Network,
        weights: SharedTensors,
        config: TrainingConfig,
        threads: int,
        low_precision: bool,
    ) -> None:
        shapes = [p.shape for p in model.parameters()]
        copied = _without_weights(model)
        message = pickle.dumps((copied, shapes, config, threads, low_precision))
        self.shared = SharedTensors(shapes)
        self.gradients = self.shared.tensors
        self.memory = 0  # most bytes it has held, without shared memory
        self._state: ModelState | None = None
        self._parameters = list(model.parameters())  # collecting them at each step would be slow
        self._modules = list(model.modules())
        self._connection, remote = Pipe()
        files = remote.fileno(), weights.file, self.shared.file
        start = START.format(path=sys.path, files=", ".join(map(str, files)))
        self._process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.DEVNULL,
            pass_fds=files,
            process_group=0,  # Ctrl-C interrupts this process alone
        )
        remote.close()
        weakref.finalize(self, _end, self._connection, self._process)
        self._send(message)

    def abandon(self) -> None:
        """Wait for the task in progress, if there is one, and ignore its result."""
        if self._is_busy:
            with suppress(Exception):
                self.finish()

    def start(self, share: Sequence[Batch], tokens: int, seed: int) -> None:
        """Begin to compute the gradient of a share of a step, for the model as it is now.

        Args:
            share: The batches.
            tokens: What the loss is divided by.
            seed: Of the dropout masks.
        """
        state = ModelState(
            trained=[p.requires_grad for p in self._parameters],
            training=[m.training for m in self._modules],
            dropouts=[m.p for m in self._modules if isinstance(m, Dropout)],
        )
        task = Task(
            state=None if state == self._state else state,
            batches=[_to_plain(batch) for batch in share],
            tokens=tokens,
            seed=seed,
        )
        self._state = state
        self._send(pickle.dumps(task))

    def finish(self) -> Tensor:
        """Wait until the gradient is in `gradients`; after the start, until the worker is ready.

        Returns:
            The sums of `add_gradient`.

        Raises:
            WorkerEnded: If the process has ended.
            Exception: The exception that was raised in the worker.
        """
        self._is_busy = False
        try:
            answer, held = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            raise self._ended() from None
        # Memory that both processes map counts once.
        self.memory = max(self.memory, held - 2 * self.shared.nbytes)
        if isinstance(answer, BaseException):
            raise answer
        return torch.tensor(answer)

    def _send(self, message: bytes) -> None:
        try:
            self._connection.send_bytes(message)
        except OSError:
            raise self._ended() from None
        self._is_busy = True

    def _ended(self) -> WorkerEnded:
        code = self._process.wait(10)
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return WorkerEnded(f"a worker process of this training ended ({how})")


def _end(connection: Connection, process: "subprocess.Popen[bytes]") -> None:
    connection.close()
    process.kill()  # nothing is lost: a worker holds no state of the training
    process.wait()


def _without_weights(model: Network) -> Network:
    """Copy a model with empty parameters."""
    empty: dict[int, object] = {id(p): nn.Parameter(p.new_empty(0)) for p in model.parameters()}
    return copy.deepcopy(model, empty)


def _to_plain(batch: Batch) -> PlainBatch:
    tensors = (batch.source, batch.source_segments, batch.target, batch.target_segments)
    return PlainBatch(tuple(t.numpy() for t in tensors), batch.target_tokens, batch.is_packed)
