"""Another process that computes gradients: a copy of the model over the same weights.

Threads of one Python wait for its lock at each of the hundreds of small operations of a pass;
processes do not. Weights and gradients lie in memory that all hold, so that only batches and two
numbers travel.
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
from typing import Any

import torch
from torch import Tensor, nn

from headway.config import TrainingConfig
from headway.errors import HeadwayError
from headway.kernels.dropout import Dropout
from headway.model import Network
from headway.text.batches import Batch
from headway.training.machine import settle
from headway.training.objective import Objective

LINE = 16  # floats of a cache line, on which every tensor begins
START = (
    "import sys; sys.path[:] = {path!r}; from headway.training.helper import serve; serve({files})"
)


class HelperEnded(HeadwayError):
    """A helping process is there no more."""


class SharedTensors:
    """Float32 tensors in memory that other processes can hold too.

    Args:
        shapes: Of the tensors.
        file: An open file of another's `SharedTensors` of the same shapes; None: new memory, zeros.
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


class Helper:
    """A process of its own, started at once; it ends with this object or with this process.

    Args:
        model: What it copies, but for the weights.
        weights: The model's.
        config: What the objective is.
        threads: It computes with.
        low_precision: Products in bfloat16.

    Raises:
        OSError: If no process can be started here.
        pickle.PicklingError, AttributeError, TypeError: If the model cannot be sent to one.
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
        self.memory = 0  # most bytes it has held, beside what is shared
        self._settings: Any = None
        self._parameters = list(model.parameters())  # walking through a model takes its time
        self._modules = list(model.modules())
        self._connection, theirs = Pipe()
        files = theirs.fileno(), weights.file, self.shared.file
        start = START.format(path=sys.path, files=", ".join(map(str, files)))
        self._process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.DEVNULL,
            pass_fds=files,
            process_group=0,  # an interrupt from the keyboard is for this process alone
        )
        theirs.close()
        weakref.finalize(self, _end, self._connection, self._process)
        self._send(message)

    def abandon(self) -> None:
        """Wait for what it may be doing, and forget it."""
        if self._busy:
            with suppress(Exception):
                self.finish()

    def start(self, share: Sequence[Batch], tokens: int, seed: int) -> None:
        """Let it compute `gradient` of a share, as the model is now; masks come from the seed."""
        settings = (
            [p.requires_grad for p in self._parameters],
            [m.training for m in self._modules],
            [m.p for m in self._modules if isinstance(m, Dropout)],
        )
        same = settings == self._settings
        self._settings = settings
        arrays = [_arrays(batch) for batch in share]
        self._send(pickle.dumps((None if same else settings, arrays, tokens, seed)))

    def finish(self) -> Tensor:
        """Wait for the sums of `gradient`, which is in `gradients`, or at first for its readiness.

        Raises:
            HelperEnded: If the process has ended.
            Exception: What went wrong in it.
        """
        self._busy = False
        try:
            answer, held = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            raise self._ended() from None
        # Pages that both processes hold count once.
        self.memory = max(self.memory, held - 2 * self.shared.nbytes)
        if isinstance(answer, BaseException):
            raise answer
        return torch.tensor(answer)

    def _send(self, message: bytes) -> None:
        try:
            self._connection.send_bytes(message)
        except OSError:
            raise self._ended() from None
        self._busy = True

    def _ended(self) -> HelperEnded:
        code = self._process.wait(10)
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return HelperEnded(f"a helping process of this training ended ({how})")


def gradient(
    objective: Objective, share: Sequence[Batch], tokens: int, low_precision: bool
) -> Tensor:
    """Add the gradient of the batches' loss over ``tokens`` to the objective's model.

    Returns:
        Their loss and nll, summed over target tokens, [2].
    """
    device = next(objective.model.parameters()).device
    sums = torch.zeros(2, device=device)
    for batch in share:
        with torch.autocast(device.type, torch.bfloat16, enabled=low_precision):
            smoothed, nll = objective(batch)
        (smoothed / tokens).backward()
        sums += torch.stack((smoothed.detach(), nll))
    return sums


def serve(connection_file: int, weights_file: int, gradients_file: int) -> None:
    """Answer another process's `Helper` until that ends."""
    connection = Connection(connection_file)
    with suppress(EOFError, ConnectionError):  # nobody is there any more
        message = connection.recv_bytes()
        answer: Any = (0.0, 0.0)
        try:
            served = _Served(message, weights_file, gradients_file)
            settle()
        except Exception as error:
            answer = _noted(error)
        while True:
            held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            connection.send_bytes(pickle.dumps((answer, held)))
            message = connection.recv_bytes()
            try:
                answer = served.gradient(*pickle.loads(message))
            except Exception as error:
                answer = _noted(error)


class _Served:
    """The copy of the model in the helping process."""

    def __init__(self, message: bytes, weights_file: int, gradients_file: int) -> None:
        self.model, shapes, self.config, threads, self.low_precision = pickle.loads(message)
        torch.set_num_threads(threads)
        self.parameters = list(self.model.parameters())
        weights = SharedTensors(shapes, weights_file)
        self.gradients = SharedTensors(shapes, gradients_file)
        for parameter, weight in zip(self.parameters, weights.tensors, strict=True):
            parameter.data = weight
        self._make_objective()

    def _make_objective(self) -> None:
        config = self.config
        self.objective = Objective(self.model, config.label_smoothing, config.agreement)

    def gradient(self, settings: Any, arrays: list[Any], tokens: int, seed: int) -> list[float]:
        if settings is not None:
            _follow(self.model, settings)
            self._make_objective()
        torch.manual_seed(seed)
        share = [_batch(*each) for each in arrays]
        sums = gradient(self.objective, share, tokens, self.low_precision)
        for parameter, shared in zip(self.parameters, self.gradients.tensors, strict=True):
            if parameter.grad is not None:
                shared.copy_(parameter.grad)
                parameter.grad = None
        return sums.tolist()


def _noted(error: Exception) -> Exception:
    error.add_note("in a helping process:\n" + traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(traceback.format_exc())
    return error


def _end(connection: Connection, process: "subprocess.Popen[bytes]") -> None:
    connection.close()
    process.kill()  # it holds nothing that anybody needs
    process.wait()


def _without_weights(model: Network) -> Network:
    """Copy a model, all but the numbers in its parameters."""
    nothing: dict[int, Any] = {id(p): nn.Parameter(p.new_empty(0)) for p in model.parameters()}
    return copy.deepcopy(model, nothing)


def _follow(model: Network, settings: Any) -> None:
    """Let a copy be what its model has become: what is trained, what is switched off."""
    trained, training, dropouts = settings
    for parameter, yes in zip(model.parameters(), trained, strict=True):
        parameter.requires_grad_(yes)
    for module, yes in zip(model.modules(), training, strict=True):
        module.training = yes
    modules = (m for m in model.modules() if isinstance(m, Dropout))
    for module, p in zip(modules, dropouts, strict=True):
        module.p = p


def _arrays(batch: Batch) -> tuple[list[Any], int, bool]:
    """Return a batch as what is quick to send."""
    ids = (batch.source, batch.source_segments, batch.target, batch.target_segments)
    return [t.numpy() for t in ids], batch.target_tokens, batch.packed


def _batch(arrays: list[Any], target_tokens: int, packed: bool) -> Batch:
    source, source_segments, target, target_segments = map(torch.from_numpy, arrays)
    rows = range(len(source))
    return Batch(source, source_segments, target, target_segments, rows, target_tokens, packed)
