"""A model that is larger than a device, by torch's FSDP2: each rank holds a slice of the weights and of Adam's state.

torch collects the weights of a layer from all ranks while the layer computes, and frees them again. The
embeddings and the output belong to no layer: they are whole from the start of the forward pass to the
end of the backward pass. torch also sums the gradients of the ranks, in an order that depends on
their number: the same bits need the same number of ranks.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from headway.errors import UsageError
from headway.model import Layer
from headway.model.embeddings import Embedding
from headway.text.batches import Batch
from headway.training import parallel
from headway.training.steps.objective import Loss, Objective

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor


class ShardedObjective(nn.Module):
    """An objective whose model is divided between the ranks; all of them must call it equally often.

    Args:
        objective: The parameters of its model become `DTensor`s, and only this module can call it.

    Raises:
        UsageError: If there is only one rank.
    """

    def __init__(self, objective: Objective) -> None:
        # FSDP2 takes a second to import.
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import FSDPModule, fully_shard

        super().__init__()
        if parallel.world_size() == 1:
            raise UsageError("training.shard = true: start several ranks: give --ranks 2 or more")
        self.model = objective.model
        self.objective = objective
        device = next(self.model.parameters()).device
        layers = [module for module in self.model.modules() if isinstance(module, Layer)]
        # FSDP2 takes the current GPU; -1 changes nothing.
        with torch.cuda.device(device.index if device.type == "cuda" else -1):
            mesh = init_device_mesh(device.type, (parallel.world_size(),))
            for module in (*layers, self):
                sharded = fully_shard(module, mesh=mesh)
                assert isinstance(sharded, FSDPModule)
                # Plain sums: FSDP2 would divide them by the number of ranks.
                sharded.set_gradient_divide_factor(1.0)
                sharded.set_force_sum_reduction_for_comms(True)
        for weight in {m.weight for m in self.model.modules() if isinstance(m, Embedding)}:
            # FSDP2 has replaced the parameter, and with it the hook that clears the gradient of <pad>.
            own = _divide(torch.arange(len(weight), device=device), weight).to_local()
            if len(own) and own[-1] == len(weight) - 1:
                weight.register_post_accumulate_grad_hook(_clear_last_row)

    def forward(self, batch: Batch) -> Loss:
        """Return the loss of this rank's batch; the gradient of each parameter is the sum of the ranks'."""
        return self.objective(batch)


def collect(tensor: Tensor) -> Tensor:
    """Return the whole tensor of which each rank has a slice; or a tensor that is not divided."""
    if not hasattr(tensor, "full_tensor"):
        return tensor
    with parallel.explain_lost_rank():
        found: Tensor = tensor.full_tensor()
    return found.detach()


def copy_slice(whole: Tensor, tensor: Tensor) -> None:
    """Copy this rank's slice of a whole tensor into a tensor that is divided, or all of it into another one."""
    if hasattr(tensor, "placements"):
        whole = _divide(whole.to(tensor.device), tensor)
    tensor.copy_(whole)


def _divide(whole: Tensor, like: Any) -> "DTensor":
    """Divide a whole tensor as another one is divided."""
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(whole, like.device_mesh, like.placements, src_data_rank=None)


def _clear_last_row(weight: Any) -> None:
    """Set the gradient of the last row of this rank's slice to zero."""
    weight.grad.to_local()[-1] = 0
