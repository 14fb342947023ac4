"""The optimizers of a run, with their state."""

from collections.abc import Mapping

from torch import Tensor

from headway.config import TrainingConfig
from headway.training.steps.adam import Adam
from headway.training.steps.muon import Muon


def make_optimizers(
    parameters: Mapping[str, Tensor], config: TrainingConfig, low_precision: bool
) -> list[Adam | Muon]:
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
