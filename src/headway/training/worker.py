"""A worker process, which computes gradients with a copy of the model over the same weights.

Threads of one Python process wait for its lock at each of the hundreds of small operations of a
pass; processes do not. Weights and gradients lie in memory that all processes share, so only batches
and two numbers travel, as pickled messages over a pipe.
"""

import copy
import mmap
import os
import pickle
import resource
import signal
import subprocess
import sys
import traceback
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import accumulate
from multiprocessing.connection import Connection, Pipe
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from headway.config import TrainingConfig
from headway.errors import HeadwayError
from headway.kernels.dropout import Dropout
from headway.model import Network
from headway.text.batches import Batch
from headway.training.machine import configure_process
from headway.training.objective import Objective

LINE = 16  # floats of a cache line; every shared tensor begins at one
START = (
    "import sys; sys.path[:] = {path!r}; from headway.training.worker import serve; serve({files})"
)


class WorkerEnded(HeadwayError):
    """A worker process of a training has ended."""


class SharedTensors:
    """Float32 tensors in memory that other processes can map too.

    Args:
        shapes: The shapes of the tensors.
        file: An open file of another process's `SharedTensors` of the same shapes; None: new
            memory, filled with zeros.
    """

    def __init__(self, shapes: Iterable[torch.Size], file: int | None = None) -> None:
        shapes = list(shapes)
        starts = [0, *accumulate(-(-shape.numel() // LINE) * LINE for shape in shapes)]
        self.nbytes = 4 * max(starts[-1], LINE)
        self.file = os.memfd_create("headway") if file is None else file
        weakref.finalize(self, os.close, self.file)
        if file is None:
            os.ftruncate(self.file, self.nbytes)
        self.flat = torch.frombuffer(mmap.mmap(self.file, self.nbytes), dtype=torch.float32)
        self.tensors = [
            self.flat[start : start + shape.numel()].view(shape)
            for start, shape in zip(starts, shapes, strict=False)
        ]


class _ModelState(NamedTuple):
    """What a caller may change of a model between two steps, beside its weights."""

    trained: list[bool]  # of each parameter
    training: list[bool]  # of each module
    dropouts: list[float]  # of each dropout module


class _Task(NamedTuple):
    """A message to a worker: what to compute the gradient of."""

    state: _ModelState | None  # None: as before
    batches: list["_PlainBatch"]
    tokens: int
    seed: int


class _PlainBatch(NamedTuple):
    """A batch as arrays, which pickle faster than tensors."""

    sides: tuple[npt.NDArray[np.int64], ...]  # source, its segments, target, its segments
    target_tokens: int
    packed: bool


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
        self._state: _ModelState | None = None
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

    def start(self, part: Sequence[Batch], tokens: int, seed: int) -> None:
        """Begin to compute the gradient of a part of a step, for the model as it is now.

        Args:
            part: The batches.
            tokens: What the loss is divided by.
            seed: Of the dropout masks.
        """
        state = _ModelState(
            trained=[p.requires_grad for p in self._parameters],
            training=[m.training for m in self._modules],
            dropouts=[m.p for m in self._modules if isinstance(m, Dropout)],
        )
        task = _Task(
            state=None if state == self._state else state,
            batches=[_to_plain(batch) for batch in part],
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


def add_gradient(
    objective: Objective, batches: Sequence[Batch], tokens: int, low_precision: bool
) -> Tensor:
    """Add the gradient of the batches' loss, divided by ``tokens``, to the objective's model.

    Returns:
        The smoothed loss and the nll, summed over target tokens, [2].
    """
    device = next(objective.model.parameters()).device
    sums = torch.zeros(2, device=device)
    for batch in batches:
        with torch.autocast(device.type, torch.bfloat16, enabled=low_precision):
            smoothed, nll = objective(batch)
        (smoothed / tokens).backward()
        sums += torch.stack((smoothed.detach(), nll))
    return sums


def serve(connection_file: int, weights_file: int, gradients_file: int) -> None:
    """Run the worker process: answer the `Worker` object that started it until that is gone."""
    connection = Connection(connection_file)
    with suppress(EOFError, ConnectionError):  # the process that started this one has ended
        message = connection.recv_bytes()
        answer: Exception | list[float] = [0.0, 0.0]
        try:
            replica = _Replica(message, weights_file, gradients_file)
            configure_process(replica.threads)
        except Exception as error:
            answer = _picklable(error)
        while True:
            held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            connection.send_bytes(pickle.dumps((answer, held)))
            message = connection.recv_bytes()
            try:
                answer = replica.compute(pickle.loads(message))
            except Exception as error:
                answer = _picklable(error)


class _Replica:
    """The worker's copy of the model, over the shared weights and gradients."""

    def __init__(self, message: bytes, weights_file: int, gradients_file: int) -> None:
        self.model, shapes, self.config, self.threads, self.low_precision = pickle.loads(message)
        self.parameters = list(self.model.parameters())
        weights = SharedTensors(shapes, weights_file)
        self.gradients = SharedTensors(shapes, gradients_file)
        for parameter, weight in zip(self.parameters, weights.tensors, strict=True):
            parameter.data = weight
        self._make_objective()

    def _make_objective(self) -> None:
        config = self.config
        self.objective = Objective(self.model, config.label_smoothing, config.agreement)

    def compute(self, task: _Task) -> list[float]:
        if task.state is not None:
            _set_state(self.model, task.state)
            self._make_objective()
        torch.manual_seed(task.seed)
        batches = [_from_plain(plain) for plain in task.batches]
        sums = add_gradient(self.objective, batches, task.tokens, self.low_precision)
        for parameter, shared in zip(self.parameters, self.gradients.tensors, strict=True):
            if parameter.grad is not None:
                shared.copy_(parameter.grad)
                parameter.grad = None
        return [float(value) for value in sums.tolist()]


def _picklable(error: Exception) -> Exception:
    """Return the exception with the worker's traceback, or the traceback if it cannot be pickled."""
    error.add_note("in a worker process:\n" + traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(traceback.format_exc())
    return error


def _end(connection: Connection, process: "subprocess.Popen[bytes]") -> None:
    connection.close()
    process.kill()  # nothing is lost: a worker holds no state of the training
    process.wait()


def _without_weights(model: Network) -> Network:
    """Copy a model with empty parameters."""
    empty: dict[int, object] = {id(p): nn.Parameter(p.new_empty(0)) for p in model.parameters()}
    return copy.deepcopy(model, empty)


def _set_state(model: Network, state: _ModelState) -> None:
    for parameter, is_trained in zip(model.parameters(), state.trained, strict=True):
        parameter.requires_grad_(is_trained)
    for module, is_training in zip(model.modules(), state.training, strict=True):
        module.training = is_training
    modules = (m for m in model.modules() if isinstance(m, Dropout))
    for module, p in zip(modules, state.dropouts, strict=True):
        module.p = p


def _to_plain(batch: Batch) -> _PlainBatch:
    tensors = (batch.source, batch.source_segments, batch.target, batch.target_segments)
    return _PlainBatch(tuple(t.numpy() for t in tensors), batch.target_tokens, batch.is_packed)


def _from_plain(plain: _PlainBatch) -> Batch:
    source, source_segments, target, target_segments = map(torch.from_numpy, plain.sides)
    rows = np.arange(len(source))
    return Batch(
        source, source_segments, target, target_segments, rows, plain.target_tokens, plain.packed
    )
