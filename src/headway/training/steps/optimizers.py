"""The optimizers of a run, with their state: Adam (paper: section 5.3) by PyTorch's functions, and `Muon`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.optim.adam import adam

from headway.config import TrainingConfig
from headway.errors import HeadwayError

if TYPE_CHECKING:
    from headway.training.steps.muon import Muon


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

    Raises:
        HeadwayError: If there is no such optimizer.
    """
    matrices: list[Tensor] = []
    if config.optimizer == "muon":
        matrices = [p for name, p in parameters.items() if is_hidden_matrix(name, p)]
    elif config.optimizer != "adam":
        raise HeadwayError(f"training.optimizer = {config.optimizer!r}: no such optimizer")
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
