"""The process of a `headway.training.worker.Worker`: it answers messages with gradients."""

import pickle
import resource
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from headway.kernels.dropout import Dropout
from headway.model import Network
from headway.text.batches import Batch
from headway.training.machine import configure_process
from headway.training.objective import Objective, add_gradient
from headway.training.shared_tensors import SharedTensors


class ModelState(NamedTuple):
    """What a caller may change of a model between two steps, beside its weights."""

    trained: list[bool]  # of each parameter
    training: list[bool]  # of each module
    dropouts: list[float]  # of each dropout module


class Task(NamedTuple):
    """A message to a worker: what to compute the gradient of."""

    state: ModelState | None  # None: as before
    batches: list["PlainBatch"]
    tokens: int
    seed: int


class PlainBatch(NamedTuple):
    """A batch as arrays, which pickle faster than tensors."""

    sides: tuple[npt.NDArray[np.int64], ...]  # source, its segments, target, its segments
    target_tokens: int
    packed: bool


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

    def compute(self, task: Task) -> list[float]:
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


def _set_state(model: Network, state: ModelState) -> None:
    for parameter, is_trained in zip(model.parameters(), state.trained, strict=True):
        parameter.requires_grad_(is_trained)
    for module, is_training in zip(model.modules(), state.training, strict=True):
        module.training = is_training
    modules = (m for m in model.modules() if isinstance(m, Dropout))
    for module, p in zip(modules, state.dropouts, strict=True):
        module.p = p


def _from_plain(plain: PlainBatch) -> Batch:
    source, source_segments, target, target_segments = map(torch.from_numpy, plain.sides)
    rows = np.arange(len(source))
    return Batch(
        source, source_segments, target, target_segments, rows, plain.target_tokens, plain.packed
    )
