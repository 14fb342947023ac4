"""Optimizer steps of a model; nothing here knows of files.

Paper: sections 5.1, 5.3 and 5.4.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headway.config import TrainingConfig
from headway.extension import load_first
from headway.model import Network
from headway.model.visibility import move
from headway.text.batches import Batch
from headway.training import parallel
from headway.training.machine import kept_generators, seed_generators
from headway.training.steps.gradient_sum import (
    Gradient,
    Subtree,
    add_halves,
    connect,
    share_of,
)
from headway.training.steps.objective import Loss, Objective, compute_gradient
from headway.training.steps.optimizers import learning_rate, make_optimizers


@dataclass(frozen=True)
class Step:
    """The data of an optimizer step.

    Attributes:
        batches: The micro-batches of this rank (`share_of`; `turns_of` if the model is sharded), on its
            device.
        count: Micro-batches of all ranks.
        target_tokens: Target tokens of all ranks.
    """

    batches: Sequence[Batch]
    count: int
    target_tokens: int


@dataclass(frozen=True, kw_only=True)
class StepReport:
    """The result of one optimizer step.

    Attributes:
        step: The step's number, from 1.
        loss: Label-smoothed loss for each target token, in nats.
        nll: The same without smoothing; e to this power is the perplexity.
        tokens: Target tokens of the step, over all micro-batches and ranks.
        gradient_norm: Norm of the gradient before clipping.
        rate: The learning rate.
        skipped: Whether the loss or a gradient was not finite, so that weights and optimizer state
            did not change.
    """

    step: int
    loss: float
    nll: float
    tokens: int
    gradient_norm: float
    rate: float
    skipped: bool


def read_numbers(losses: Tensor, norm: Tensor) -> list[float]:
    """Return the two losses of a step and the norm of its gradient; a GPU is waited for here alone."""
    return torch.cat((losses, norm[None])).tolist()


class Trainer:
    """Trains a model, one optimizer step at a time.

    A model that is larger than a device has a trainer of its own: see `headway.training.steps.sharding`.

    Args:
        model: On its device.
        config: The training regime.
        precision: Of the matrix products, "fp32" or "bf16"; weights and optimizer state are fp32.

    Examples:
        >>> trainer = Trainer(model, TrainingConfig(warmup_steps=100))
        >>> report = trainer.step([batch, another_batch])
    """

    def __init__(self, model: Network, config: TrainingConfig, precision: str = "fp32") -> None:
        self.model = model
        self.config = config
        self.device = next(model.parameters()).device
        self.steps = 0
        self.low_precision = precision == "bf16"
        self.recorded: Callable[..., Gradient] | None = None
        self.objective = self._set_up(
            Objective(model, config.label_smoothing, config.agreement, config.cut)
        )
        self.parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self.optimizers = make_optimizers(self.parameters, config, self.low_precision)

    def _set_up(self, objective: Objective) -> Callable[[Batch], Loss]:
        """Prepare what a step needs besides the optimizers, and return the loss on a batch."""
        shapes = [p.shape for p in self.model.parameters() if p.requires_grad]
        self.sum_gradients = connect(
            [*shapes, torch.Size([2])], self.config.micro_batches_per_step, self.device
        )
        make = load_first("gradients", self.device.type)
        self.recorded = make(self.model, self.device) if make else None
        return objective

    def step(self, data: Step | Sequence[Batch]) -> StepReport:
        """Take one optimizer step on the sum of the micro-batches' losses over their target tokens.

        The result does not depend on the number of ranks, bit for bit. If the loss or a gradient is not
        finite, weights and optimizer state stay as they are. The step is counted all the same,
        because the learning rate is a function of the step.

        Args:
            data: The micro-batches, on the device; with several ranks, a `Step`.
        """
        if not isinstance(data, Step):
            data = Step(data, len(data), sum(batch.target_tokens for batch in data))
        self.set_training_mode()
        self.steps += 1
        *gradients, sums = self._gradient(data)
        total_norm = self.collect(torch.nn.utils.get_total_norm(gradients))
        loss, nll, norm = read_numbers(sums / data.target_tokens, total_norm)
        report = StepReport(
            step=self.steps,
            loss=loss,
            nll=nll,
            tokens=data.target_tokens,
            gradient_norm=norm,
            rate=self.rate(self.steps),
            skipped=not math.isfinite(loss + norm),
        )
        if not report.skipped:
            if self.config.clip_norm:
                factor = (self.config.clip_norm / (total_norm + 1e-6)).clamp(max=1.0)
                gradients = [gradient * factor for gradient in gradients]
            for parameter, gradient in zip(self.parameters.values(), gradients, strict=True):
                parameter.grad = gradient if parameter.requires_grad else None
            for optimizer in self.optimizers:
                optimizer.step(report.rate)
            for parameter in self.parameters.values():
                parameter.grad = None
        return report

    def make_partial_sums(self) -> list[Gradient]:
        """Return zeros as large as the sums that exist while the last micro-batch is computed."""
        share = -(-self.config.micro_batches_per_step // parallel.world_size())
        count = (share - 1).bit_length()  # see `add_halves`
        return [[torch.zeros_like(p) for p in self.parameters.values()] for _ in range(count)]

    def set_training_mode(self) -> None:
        """Put the model into training mode."""
        if not self.model.training:  # setting the mode of every module takes a millisecond
            self.model.train()

    def compute(self, batch: Batch, tokens: float) -> Gradient:
        """Return the gradient of a micro-batch for each parameter, and its summed losses, [2]."""
        if self.device.type != "cuda":
            return self._compute(batch, tokens)
        # A scalar of the GPU, by which a recording can divide, too.
        divisor = move(torch.tensor(float(tokens)), self.device)
        # Other batches have too many shapes. In fp32, the attention of packed rows is a hundred times as many kernels.
        if self.recorded is None or batch.source_packing is None or not self.low_precision:
            return self._compute(batch, divisor)
        return self.recorded(self._compute, batch, divisor)

    def _compute(self, batch: Batch, tokens: float | Tensor) -> Gradient:
        parameters = list(self.parameters.values())
        return compute_gradient(parameters, self.objective, batch, tokens, self.low_precision)

    def _gradient(self, data: Step) -> Gradient:
        """Return the gradient of a step for each parameter, and its summed losses, over all ranks."""
        share = share_of(parallel.rank(), parallel.world_size(), data.count)

        def compute(number: int) -> Gradient:
            seed_generators(self.device, self.config.seed, self.steps, number)
            return self.compute(data.batches[number - share.start], data.target_tokens)

        with kept_generators(self.device):
            parts = add_halves((Subtree(number, 1), compute(number)) for number in share)
        return self.sum_gradients(parts, data.count)

    def rate(self, step: int) -> float:
        """Return the learning rate of a step."""
        return learning_rate(
            step,
            d_model=self.model.config.d_model,
            warmup_steps=self.config.warmup_steps,
            scale=self.config.rate_scale,
            decay=self.config.decay,
            cool_steps=self.config.cool_steps,
            max_steps=self.config.max_steps,
        )

    def finite(self) -> bool:
        """Whether every weight is a finite number."""
        weights = self.model.state_dict().values()
        return all(bool(self.collect(weight.isfinite().all())) for weight in weights)

    def whole_model(self) -> Network:
        """Return the model with all its weights."""
        return self.model

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """Return weights and optimizer state, as they are now."""
        return self._own_tensors()

    @torch.no_grad()
    def load(self, tensors: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Go back to what `tensors` returned, or only to its weights."""
        own = self._own_tensors()
        for file, group in tensors.items():
            for name, value in own[file].items():
                value.copy_(self.divide(group[name], value))

    def collect(self, tensor: Tensor) -> Tensor:
        """Return the whole of a tensor of which this rank may have a slice; here it has all."""
        return tensor

    def divide(self, whole: Tensor, like: Tensor) -> Tensor:
        """Return this rank's part of a whole tensor, divided as another one; here all of it."""
        return whole

    def _own_tensors(self) -> dict[str, dict[str, Tensor]]:
        """Return what this rank has of weights and optimizer state."""
        states = [optimizer.state for optimizer in self.optimizers]
        optimizer = {
            f"{key}.{name}": value
            for name, parameter in self.parameters.items()
            for state in states
            if parameter in state
            for key, value in state[parameter].items()
        }
        return {"model": self.model.state_dict(), "optimizer": optimizer}
