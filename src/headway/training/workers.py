"""Several threads that each take a share of a step: copies of the model over the same weights.

Small models are made of many short operations, in which threads wait for each other; a share a
thread has none of that. Each copy has gradients of its own, which are summed in a fixed order, and
draws its dropout masks from a generator of its own: a step is the same each time it is run.
"""

import copy
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import torch
from torch import Tensor, nn

from headway.kernels.dropout import Dropout, drawing_from
from headway.model import Transformer
from headway.text.batches import Batch, part
from headway.training.objective import Objective

# Below so many target tokens a share's matrix products are too small to pay for a thread.
SMALLEST_SHARE = 500
# Each copy holds gradients of its own, and all are summed: more threads go into the operations.
MOST_COPIES = 8


class Workers:
    """Computes the gradient of a step on all threads of the processor.

    Args:
        model: Its parameters get the gradients.
        smoothing: Of the labels.
        threads: How many there are; another device than the CPU needs one.
        low_precision: Products in bfloat16.
    """

    def __init__(
        self, model: Transformer, smoothing: float, threads: int, low_precision: bool
    ) -> None:
        self.device = next(model.parameters()).device
        # Dropout on attention weights draws from torch's own generator, which threads must not share.
        alone = self.device.type != "cpu" or model.config.attention_dropout > 0
        self.threads = threads
        self.low_precision = low_precision
        self.models = [
            model,
            *(sharing(model) for _ in range(0 if alone else min(threads, MOST_COPIES) - 1)),
        ]
        self.objectives = [Objective(m, smoothing) for m in self.models]
        self.pool = ThreadPoolExecutor(threads)

    def train(self) -> None:
        """Put the model into training mode; its copies follow at the next step."""
        if not self.models[0].training:  # saying so to every module takes a millisecond
            self.models[0].train()

    def accumulate(self, micro_batches: Sequence[Batch], tokens: int) -> Tensor:
        """Add the gradient of the micro-batches' loss over ``tokens`` to the model's parameters.

        Returns:
            Their loss and nll, summed over target tokens, [2].
        """
        shares = self._shares(micro_batches)
        for copied in self.models[1 : len(shares)]:
            _follow(copied, self.models[0])
        if len(shares) == 1:
            return self._work(0, shares[0], tokens, None, self.threads)
        seeds = torch.empty(len(shares), dtype=torch.int64).random_().tolist()
        each = self.threads // len(shares)
        work = [
            self.pool.submit(self._work, i, share, tokens, seed, each)
            for i, (share, seed) in enumerate(zip(shares, seeds, strict=True))
        ]
        wait(work)  # nobody goes on while another has failed
        try:
            sums = [done.result() for done in work]
        except BaseException:
            for model in self.models:
                model.zero_grad(set_to_none=True)
            raise
        for model in self.models[1 : len(shares)]:
            _give(model, self.models[0])
        return torch.stack(sums).sum(0)

    def _shares(self, micro_batches: Sequence[Batch]) -> list[list[Batch]]:
        """Deal out micro-batches, whole if that is even, else each cut into equal parts."""
        tokens = sum(batch.target_tokens for batch in micro_batches)
        rows = min((len(batch.rows) for batch in micro_batches), default=1)
        count = max(1, min(len(self.objectives), tokens // SMALLEST_SHARE))
        if len(micro_batches) % count == 0:
            return [list(micro_batches[i::count]) for i in range(count)]
        count = min(count, rows)
        return [[part(batch, i, count) for batch in micro_batches] for i in range(count)]

    def _work(
        self, index: int, share: list[Batch], tokens: int, seed: int | None, threads: int
    ) -> Tensor:
        torch.set_num_threads(threads)  # of this thread
        generator = None if seed is None else torch.Generator().manual_seed(seed)
        sums = torch.zeros(2, device=self.device)
        with drawing_from(generator):
            for batch in share:
                with torch.autocast(self.device.type, torch.bfloat16, enabled=self.low_precision):
                    smoothed, nll = self.objectives[index](batch)
                (smoothed / tokens).backward()
                sums += torch.stack((smoothed.detach(), nll))
        return sums


def sharing(model: Transformer) -> Transformer:
    """Copy a model so that its parameters hold the same memory, but gradients of their own."""
    memo: dict[int, nn.Parameter] = {
        id(p): nn.Parameter(p.detach(), requires_grad=p.requires_grad) for p in model.parameters()
    }
    return copy.deepcopy(model, memo)


def _follow(copied: Transformer, model: Transformer) -> None:
    """Let a copy be what the model has become since: weights, what is trained, what is switched off."""
    for mine, parameter in zip(copied.parameters(), model.parameters(), strict=True):
        if mine.data_ptr() != parameter.data_ptr():
            mine.data = parameter.detach()
        if mine.requires_grad != parameter.requires_grad:
            mine.requires_grad_(parameter.requires_grad)
    for ours, module in zip(copied.modules(), model.modules(), strict=True):
        if ours.training != module.training:
            ours.training = module.training
        if isinstance(ours, Dropout) and isinstance(module, Dropout) and ours.p != module.p:
            ours.p = module.p


def _give(copied: Transformer, model: Transformer) -> None:
    """Add the gradients of a copy to the model's, and forget them."""
    for parameter, total in zip(copied.parameters(), model.parameters(), strict=True):
        if parameter.grad is not None and total.grad is not None:
            total.grad += parameter.grad
        elif parameter.grad is not None:
            total.grad = parameter.grad
        parameter.grad = None
