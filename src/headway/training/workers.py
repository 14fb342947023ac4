"""The gradient of a step, from all of the processor's cores: each takes a share of the sentences.

Small models are made of many short operations, in which threads wait for each other; a share a
process has none of that. Gradients are summed in a fixed order and each process draws its dropout
masks from a seed of its own: a step is the same each time it is run.
"""

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from headway.config import TrainingConfig
from headway.model import Network
from headway.text.batches import Batch, split
from headway.training.helper import Helper, HelperEnded, SharedTensors, gradient
from headway.training.objective import Objective

# Below so many target tokens a share's matrix products are too small to pay for a process.
SMALLEST_SHARE = 500
# Each has gradients of its own, and all are summed: more threads go into the operations.
MOST_SHARES = 8


class Workers:
    """Computes the gradient of a step on all cores of the processor.

    Args:
        model: Its parameters get the gradients; they move into memory that processes can share.
        config: What the objective is.
        threads: Cores to use.
        low_precision: Products in bfloat16.
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
        # No sharing on another device than the CPU, nor of numbers that are not all of one type.
        fit = all(p.device.type == "cpu" and p.dtype == torch.float32 for p in self.parameters)
        self.most = most_shares(threads) if fit else 1
        self.helpers: list[Helper] = []  # they start when there is work for them
        self.weights: SharedTensors | None = None

    @property
    def memory(self) -> int:
        """Most bytes that the other processes have held so far, beside what they share with this."""
        return sum(helper.memory for helper in self.helpers)

    def train(self) -> None:
        """Put the model into training mode."""
        if not self.model.training:  # saying so to every module takes a millisecond
            self.model.train()

    def accumulate(self, micro_batches: Sequence[Batch], tokens: int) -> Tensor:
        """Add the gradient of the micro-batches' loss over ``tokens`` to the model's parameters.

        Where a helping process ends, all are started again, once, and compute the same.

        Returns:
            Their loss and nll, summed over target tokens, [2].

        Raises:
            HelperEnded: If one ends again; the generator is as before.
        """
        generator = torch.get_rng_state()
        try:
            return self._accumulate(micro_batches, tokens)
        except HelperEnded as error:
            warnings.warn(f"{error}; started again, the step is taken again", stacklevel=2)
        torch.set_rng_state(generator)
        try:
            self._start_helpers()
            return self._accumulate(micro_batches, tokens)
        except (HelperEnded, OSError) as error:
            self.helpers = []
            torch.set_rng_state(generator)
            raise HelperEnded(
                f"{error}, and again at once; SIGKILL mostly means that memory ran out: go on with"
                " the same command, or with less memory by --training.threads 1"
            ) from None

    def _accumulate(self, micro_batches: Sequence[Batch], tokens: int) -> Tensor:
        if self.most > 1 and not self.helpers and len(shares(micro_batches, self.most)) > 1:
            try:
                self._start_helpers()
            except Exception as error:  # a system without them, or a model that cannot be sent
                warnings.warn(
                    f"no helping process for training, it is slower: {error}", stacklevel=3
                )
                self.helpers, self.most = [], 1
        mine, *others = shares(micro_batches, self.most)
        if not others:
            return gradient(self.objective, mine, tokens, self.low_precision)
        self._share_weights()
        seeds = torch.empty(len(others), dtype=torch.int64).random_().tolist()
        helpers = self.helpers[: len(others)]
        try:
            for helper, share, seed in zip(helpers, others, seeds, strict=True):
                helper.start(share, tokens, seed)
            torch.set_num_threads(self._share_of_threads(0))
            sums = [gradient(self.objective, mine, tokens, self.low_precision)]
            sums += [helper.finish() for helper in helpers]
        except BaseException:
            for helper in helpers:
                helper.abandon()
            self.model.zero_grad(set_to_none=True)
            raise
        finally:
            torch.set_num_threads(self.threads)
        for helper in helpers:
            for parameter, theirs in zip(self.parameters, helper.gradients, strict=True):
                if parameter.grad is not None:
                    parameter.grad += theirs
        return torch.stack(sums).sum(0)

    def _start_helpers(self) -> None:
        """Start a process for every share but the first; what there were before end."""
        self.helpers = []
        self.weights = self.weights or SharedTensors(p.shape for p in self.parameters)
        for number in range(1, self.most):
            each = self._share_of_threads(number)
            self.helpers.append(
                Helper(self.model, self.weights, self.config, each, self.low_precision)
            )
        for helper in self.helpers:
            helper.finish()

    def _share_of_threads(self, number: int) -> int:
        """Deal out the threads; this process, 0, has the most to do."""
        return self.threads // self.most + (number < self.threads % self.most)

    def _share_weights(self) -> None:
        """Move the weights into shared memory, where they stay unless somebody takes them out."""
        assert self.weights is not None
        for parameter, shared in zip(self.parameters, self.weights.tensors, strict=True):
            if parameter.data_ptr() != shared.data_ptr():
                shared.copy_(parameter.detach())
                parameter.data = shared


def most_shares(threads: int) -> int:
    """Choose how many processes take the threads: a second thread in one is worth 0.6 of a process."""
    return max(range(1, min(threads, MOST_SHARES) + 1), key=lambda n: n * (threads // n) ** 0.7)


def shares(micro_batches: Sequence[Batch], most: int) -> list[list[Batch]]:
    """Deal out micro-batches, whole if that is even, else each cut into equal parts."""
    tokens = sum(batch.target_tokens for batch in micro_batches)
    rows = min((len(batch.rows) for batch in micro_batches), default=1)
    count = max(1, min(most, tokens // SMALLEST_SHARE))
    if len(micro_batches) % count == 0:
        return [list(micro_batches[i::count]) for i in range(count)]
    count = min(count, rows)
    return [list(share) for share in zip(*(split(b, count) for b in micro_batches), strict=True)]
