"""The optimizers of a run, with their state: Adam (paper: section 5.3) by PyTorch's functions, and `Muon`.

The learning rate depends on the step and the settings alone.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor
from torch.optim.adam import adam

from headway.config import TrainingConfig

if TYPE_CHECKING:
    from headway.training.steps.muon import Muon


def learning_rate(
    step: int,
    *,
    d_model: int,
    warmup_steps: int,
    scale: float = 1.0,
    decay: Literal["inverse-sqrt", "none"] = "inverse-sqrt",
    cool_steps: int = 0,
    max_steps: int = 0,
) -> float:
    """Return the rate of a step: it rises linearly during the warm-up, then falls as step^-0.5.

    Paper: section 5.3, equation 3, d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5).

    Args:
        step: The first step is 1.
        d_model: Width of the model.
        warmup_steps: Steps until the peak.
        scale: Multiplies the rate; 1 is the paper's rate.
        decay: The paper's, or none: after the warm-up the rate stays at its peak, which is the same.
        cool_steps: Over the last so many steps the rate also falls linearly, to 0 just after the
            last step; 0 is the paper's rate.
        max_steps: The last step; needed only with ``cool_steps``.
    """
    cooled = min(1.0, max(0, max_steps + 1 - step) / cool_steps) if cool_steps else 1.0
    falling = step**-0.5 if decay == "inverse-sqrt" else warmup_steps**-0.5
    return cooled * scale * d_model**-0.5 * min(falling, step * warmup_steps**-1.5)


def warn_if_rate_rises(step: int, before: TrainingConfig, now: TrainingConfig) -> str:
    """Return a warning if a run that has begun to cool is made longer, else an empty string.

    Args:
        step: The step that the run has reached.
        before: Its settings.
        now: Its settings from here on.
    """
    cooled = step - (before.max_steps + 1 - before.cool_steps)
    if not before.cool_steps or cooled <= 0 or now.max_steps <= before.max_steps:
        return ""
    return (
        f"the learning rate has cooled for {cooled:,} of {before.cool_steps:,} steps and rises again, because the"
        f" last step is now {now.max_steps:,} and not {before.max_steps:,}: the result is not that of a run of"
        f" {now.max_steps:,} steps from the start"
    )


def warn_if_too_short(training: TrainingConfig) -> str:
    """Return a warning if a run ends before its rate has reached its peak, else an empty string.

    A user who shortens a run often forgets that the preset warms up and cools for longer than that.
    """
    warmup, cool, last = training.warmup_steps, training.cool_steps, training.max_steps
    if warmup + cool <= last:
        return ""
    own = max(1, last // 10)
    # The same peak rate: in equation 3 it depends on the warm-up.
    scale = training.rate_scale * math.sqrt(own / warmup)
    cooling = f" and cools for {cool:,}" if cool else ""
    return (
        f"the learning rate warms up for {warmup:,} steps{cooling}, but the run has {last:,}: the rate"
        f" never reaches its peak, and the model may learn little; for a run this short: --training.warmup-steps {own}"
        f" --training.cool-steps {cool and last * 3 // 4} --training.rate-scale {scale:.3g}"
    )


class Adam:
    """Changes each parameter by the averages of its gradients and of their squares.

    `torch.optim.Adam` computes the same, but it imports PyTorch's compiler, which takes seconds in each rank.
    The state exists from the beginning, so that the memory of a run is known before its first step.

    Args:
        parameters: What is trained.
        beta1: Share of the earlier gradients that stays in their average at each step.
        beta2: The same for the average of their squares.
        epsilon: Added to the root of the average of the squares.
    """

    def __init__(
        self, parameters: Sequence[Tensor], beta1: float, beta2: float, epsilon: float
    ) -> None:
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.state: dict[Tensor, dict[str, Tensor]] = {
            parameter: {
                "step": torch.zeros((), device=parameter.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
            for parameter in parameters
        }

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Change the parameters that have a gradient, at this learning rate."""
        changed = [parameter for parameter in self.state if parameter.grad is not None]
        states = [self.state[parameter] for parameter in changed]
        adam(
            changed,
            [parameter.grad for parameter in changed if parameter.grad is not None],
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [state["step"] for state in states],
            fused=True,
            amsgrad=False,
            beta1=self.beta1,
            beta2=self.beta2,
            lr=rate,
            weight_decay=0.0,
            eps=self.epsilon,
            maximize=False,
        )


def make_optimizers(
    parameters: Mapping[str, Tensor], config: TrainingConfig, low_precision: bool
) -> "list[Adam | Muon]":
    """Return Adam for all parameters (paper: section 5.3), or Muon for hidden matrices and Adam for the rest.

    Args:
        parameters: The trained parameters by their names in the model.
        config: The training regime.
        low_precision: Whether matrix products are in bfloat16.
    """
    matrices: list[Tensor] = []
    if config.optimizer == "muon":
        matrices = [p for name, p in parameters.items() if is_hidden_matrix(name, p)]
    rest = [p for p in parameters.values() if all(p is not matrix for matrix in matrices)]
    adam = Adam(rest, config.adam_beta1, config.adam_beta2, config.adam_epsilon)
    if not matrices:
        return [adam]
    from headway.training.steps.muon import Muon

    muon = Muon(matrices, config.muon_momentum, low_precision, config.muon_weight_decay)
    return [muon, adam]


def is_hidden_matrix(name: str, parameter: Tensor) -> bool:
    """Whether a parameter is the weight of a linear layer between embedding and logits.

    Other tensors of two dimensions are no linear map, such as a filter for each channel, or several maps, such
    as the gates of an LSTM.
    """
    return (
        parameter.dim() == 2
        and name.startswith(("encoder.", "decoder."))
        and name.endswith(".weight")
    )
