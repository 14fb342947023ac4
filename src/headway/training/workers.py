"""The gradient of a step, computed on all processor cores by several workers.

A worker is a process with a share of the step's sentences; this process is the first worker. A small
model consists of many short operations, in which threads of one process would wait for each other.
The gradients are summed in a fixed order, and each worker draws its dropout masks from a seed of its
own, so a step gives the same result each time.
"""

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from headway.config import TrainingConfig
from headway.model import Network
from headway.text.batches import Batch, split
from headway.training.machine import thread_count
from headway.training.objective import Objective, add_gradient
from headway.training.shared_tensors import SharedTensors
from headway.training.worker import Worker, WorkerEnded

# With fewer target tokens a share's matrix products are too small to be worth a worker.
MIN_TOKENS_PER_WORKER = 500
# Each worker has gradients of its own, which must be summed. Further threads join the workers.
MAX_WORKERS = 8


class Workers:
    """Computes the gradient of a step on all cores of the processor.

    This process computes the first share of each step; a worker process computes each other share.

    Args:
        model: Gradients are added to its parameters, which move into shared memory.
        config: The settings of the objective.
        threads: Threads of all workers together.
        low_precision: Whether matrix products are in bfloat16.
    """

    def __init__(
        self, model: Network, config: TrainingConfig, threads: int, low_precision: bool
    ) -> None:
        self.model = model
        self.parameters = list(model.parameters())
        self.objective = Objective(model, config.label_smoothing, config.agreement)
        self.config = config
        self.threads = threads
        self.low_precision = low_precision
        # Only float32 parameters on the CPU can be shared.
        shareable = all(
            p.device.type == "cpu" and p.dtype == torch.float32 for p in self.parameters
        )
        self.max_workers = choose_worker_count(threads) if shareable else 1
        self.workers: list[Worker] = []  # they start at the first step that is large enough
        self.weights: SharedTensors | None = None

    @property
    def memory(self) -> int:
        """Most bytes that the workers have held so far, without the memory shared with them."""
        return sum(worker.memory for worker in self.workers)

    def train(self) -> None:
        """Put the model into training mode."""
        if not self.model.training:  # setting the mode of every module takes a millisecond
            self.model.train()

    def accumulate(self, micro_batches: Sequence[Batch], tokens: int) -> Tensor:
        """Add the gradient of the micro-batches' loss, divided by ``tokens``, to the parameters.

        If a worker ends, all workers are started again, once, and compute the same step again.

        Returns:
            The smoothed loss and the nll, summed over target tokens, [2].

        Raises:
            WorkerEnded: If a worker ends again; torch's random generator is then as before.
        """
        generator = torch.get_rng_state()
        try:
            return self._accumulate(micro_batches, tokens)
        except WorkerEnded as error:
            warnings.warn(f"{error}; started again, the step is repeated", stacklevel=2)
        torch.set_rng_state(generator)
        try:
            self._start_workers()
            return self._accumulate(micro_batches, tokens)
        except (WorkerEnded, OSError) as error:
            self.workers = []
            torch.set_rng_state(generator)
            raise WorkerEnded(
                f"{error}, and again when the step was repeated; SIGKILL usually means that memory"
                " ran out: resume with the same command, or use less memory with"
                " --training.threads 1"
            ) from None

    def _accumulate(self, micro_batches: Sequence[Batch], tokens: int) -> Tensor:
        if self.max_workers > 1 and not self.workers and self._is_worth_workers(micro_batches):
            try:
                self._start_workers()
            except Exception as error:  # a system without shared memory, or an unpicklable model
                warnings.warn(
                    f"training is slower, because no worker process can start: {error}",
                    stacklevel=3,
                )
                self.workers, self.max_workers = [], 1
        own, *others = divide(micro_batches, self.max_workers)
        if not others:
            with thread_count(self.threads):
                return add_gradient(self.objective, own, tokens, self.low_precision)
        self._share_weights()
        seeds = torch.empty(len(others), dtype=torch.int64).random_().tolist()
        workers = self.workers[: len(others)]
        try:
            for worker, share, seed in zip(workers, others, seeds, strict=True):
                worker.start(share, tokens, seed)
            with thread_count(self._threads_of(0)):
                sums = [add_gradient(self.objective, own, tokens, self.low_precision)]
            sums += [worker.finish() for worker in workers]
        except BaseException:
            for worker in workers:
                worker.abandon()
            self.model.zero_grad(set_to_none=True)
            raise
        for worker in workers:
            for parameter, gradient in zip(self.parameters, worker.gradients, strict=True):
                if parameter.grad is not None:
                    parameter.grad += gradient
        return torch.stack(sums).sum(0)

    def _is_worth_workers(self, micro_batches: Sequence[Batch]) -> bool:
        return len(divide(micro_batches, self.max_workers)) > 1

    def _start_workers(self) -> None:
        """Start a worker process for every share but the first; earlier ones end."""
        self.workers = []
        self.weights = self.weights or SharedTensors(p.shape for p in self.parameters)
        for number in range(1, self.max_workers):
            threads = self._threads_of(number)
            self.workers.append(
                Worker(self.model, self.weights, self.config, threads, self.low_precision)
            )
        for worker in self.workers:
            worker.finish()

    def _threads_of(self, number: int) -> int:
        """Return the threads of a worker; number 0 is this process, which has the most work."""
        return self.threads // self.max_workers + (number < self.threads % self.max_workers)

    def _share_weights(self) -> None:
        """Move the weights into shared memory; they stay there unless a caller replaces them."""
        assert self.weights is not None
        for parameter, shared in zip(self.parameters, self.weights.tensors, strict=True):
            if parameter.data_ptr() != shared.data_ptr():
                shared.copy_(parameter.detach())
                parameter.data = shared


def choose_worker_count(threads: int) -> int:
    """Choose how many workers divide the threads: a second thread is worth 0.6 of a worker."""
    return max(range(1, min(threads, MAX_WORKERS) + 1), key=lambda n: n * (threads // n) ** 0.7)


def divide(micro_batches: Sequence[Batch], max_workers: int) -> list[list[Batch]]:
    """Divide micro-batches into shares: whole ones if that is even, else each is cut evenly."""
    tokens = sum(batch.target_tokens for batch in micro_batches)
    rows = min((len(batch.pair_indices) for batch in micro_batches), default=1)
    count = max(1, min(max_workers, tokens // MIN_TOKENS_PER_WORKER))
    if len(micro_batches) % count == 0:
        return [list(micro_batches[i::count]) for i in range(count)]
    count = min(count, rows)
    return [list(share) for share in zip(*(split(b, count) for b in micro_batches), strict=True)]
