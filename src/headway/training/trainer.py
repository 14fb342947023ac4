"""Optimizer steps of a model; nothing here knows of files.

Paper: sections 5.1, 5.3 and 5.4.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headway.config import TrainingConfig
from headway.model import Network
from headway.text.batches import Batch
from headway.training import ranks
from headway.training.machine import peak_memory
from headway.training.schedule import learning_rate
from headway.training.workers import Workers


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


class Trainer:
    """Trains a model, one optimizer step at a time.

    Args:
        model: On its device.
        config: The training regime.
        precision: Of the matrix products, "fp32" or "bf16"; weights and optimizer state are fp32.

    Example:
        >>> trainer = Trainer(model, TrainingConfig(warmup_steps=100))
        >>> report = trainer.step([batch, another_batch])
    """

    def __init__(self, model: Network, config: TrainingConfig, precision: str = "fp32") -> None:
        self.model = model
        self.config = config
        self.device = next(model.parameters()).device
        self.steps = 0
        self.parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self.workers = Workers(model, config, torch.get_num_threads(), precision == "bf16")
        self.optimizer = torch.optim.Adam(
            self.parameters.values(),
            betas=(config.adam_beta1, config.adam_beta2),
            eps=config.adam_epsilon,
            fused=True,
        )
        for parameter in self.parameters.values():
            # Adam would create its state in the first step; created here, its memory is known before.
            self.optimizer.state[parameter] = {
                "step": torch.zeros((), device=self.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }

    def step(self, micro_batches: Sequence[Batch]) -> StepReport:
        """Take one optimizer step on the sum of the micro-batches' losses over their target tokens.

        If the loss or a gradient is not finite, weights and optimizer state stay as they are. The
        step is counted all the same, because the learning rate is a function of the step.

        Args:
            micro_batches: This process's share of the step, already on the device.
        """
        self.workers.train()
        self.steps += 1
        tokens = ranks.sum_number(sum(batch.target_tokens for batch in micro_batches))
        sums = self.workers.accumulate(micro_batches, tokens)
        ranks.sum_gradients(self.parameters.values())
        loss, nll = (ranks.sum_tensor(sums) / tokens).tolist()
        gradients = [p.grad for p in self.parameters.values() if p.grad is not None]
        total_norm = torch.nn.utils.get_total_norm(gradients)
        norm = total_norm.item()
        report = StepReport(
            step=self.steps,
            loss=loss,
            nll=nll,
            tokens=tokens,
            gradient_norm=norm,
            rate=self.rate(self.steps),
            skipped=not math.isfinite(loss + norm),
        )
        if not report.skipped:
            if self.config.clip_norm:
                torch.nn.utils.clip_grads_with_norm_(
                    self.parameters.values(), self.config.clip_norm, total_norm
                )
            for group in self.optimizer.param_groups:
                group["lr"] = report.rate
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return report

    @property
    def peak_memory(self) -> int:
        """Most bytes held so far on the device, by all of this trainer's ranks."""
        return peak_memory(str(self.device)) + self.workers.memory

    def rate(self, step: int) -> float:
        """Return the learning rate of a step."""
        return learning_rate(
            step,
            d_model=self.model.config.d_model,
            warmup_steps=self.config.warmup_steps,
            scale=self.config.rate_scale,
            cool_steps=self.config.cool_steps,
            max_steps=self.config.max_steps,
        )

    def finite(self) -> bool:
        """Whether every weight is a finite number."""
        return all(bool(p.isfinite().all()) for p in self.model.state_dict().values())

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """Return weights, optimizer state and random generators, as they are now."""
        optimizer = {
            f"{key}.{name}": value
            for name, parameter in self.parameters.items()
            for key, value in self.optimizer.state[parameter].items()
        }
        return {
            "model": self.model.state_dict(),
            "optimizer": optimizer,
            "random": ranks.random_states(self.device),
        }

    def load(self, tensors: Mapping[str, Mapping[str, Tensor]], *, random: bool = True) -> None:
        """Go back to what `tensors` returned; ``random=False`` leaves the generators alone."""
        self.model.load_state_dict(tensors["model"])
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                for key, value in self.optimizer.state[parameter].items():
                    value.copy_(tensors["optimizer"][f"{key}.{name}"])
        if random:
            ranks.set_random_states(tensors["random"], self.device)
