"""Adam (paper: section 5.3), by PyTorch's functions."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.optim.adam import adam


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
