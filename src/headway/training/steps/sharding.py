"""A model that is larger than a device, by torch's FSDP2: each rank holds a slice of the weights and of Adam's state.

torch collects the weights of a layer from all ranks while the layer computes, and frees them again. The
embeddings and the output belong to no layer: they are whole from the start of the forward pass to the
end of the backward pass. torch also sums the gradients of the ranks, in an order that depends on
their number: the same bits need the same number of ranks.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from headway.errors import UsageError
from headway.model import Layer, Network, make_model
from headway.model.embeddings import Embedding
from headway.text.batches import Batch
from headway.torch_private import for_each
from headway.training import parallel
from headway.training.machine import kept_generators, seed_generators
from headway.training.steps.gradient_sum import Gradient
from headway.training.steps.objective import Loss, Objective
from headway.training.steps.trainer import Step, Trainer


def turns_of(rank: int, ranks: int, count: int) -> list[int]:
    """Return the micro-batch of a rank in each round of a step, in which every rank computes one.

    A rank that would have none in the last round computes the last micro-batch again.
    """
    return [min(number, count - 1) for number in range(rank, count + -count % ranks, ranks)]


class ShardedTrainer(Trainer):
    """Trains a model that is divided between the ranks: its parameters, gradients and optimizer state are `DTensor`s.

    All ranks must call each method equally often. The batches of a `Step` are those of `turns_of`.

    Raises:
        UsageError: If there is only one rank.
    """

    def _set_up(self, objective: Objective) -> Callable[[Batch], Loss]:
        if parallel.world_size() == 1:
            raise UsageError("training.shard = true: start several ranks: give --ranks 2 or more")
        return _Sharded(objective)

    def compute(self, batch: Batch, tokens: float) -> Gradient:
        """Return the sum of the gradients of a micro-batch of each rank, and the summed losses of this rank's, [2]."""
        with parallel.explain_lost_rank():
            return super().compute(batch, tokens)

    def make_partial_sums(self) -> list[Gradient]:
        """Return zeros as large as the gradient of a step."""
        return [[torch.zeros_like(parameter) for parameter in self.parameters.values()]]

    def _gradient(self, data: Step) -> Gradient:
        """Return the gradient of a step: in each round, every rank computes one micro-batch, and torch sums their gradients."""
        ranks = parallel.world_size()
        [total] = self.make_partial_sums()
        losses = torch.zeros(2, device=self.device)
        with kept_generators(self.device):
            for turn, number in enumerate(turns_of(parallel.rank(), ranks, data.count)):
                seed_generators(self.device, self.config.seed, self.steps, number)
                # In the last round some ranks only help: divided by infinity, their gradient is zero.
                is_counted = turn * ranks + parallel.rank() < data.count
                divisor = data.target_tokens if is_counted else math.inf
                *gradients, own = self.compute(data.batches[turn], divisor)
                for_each("add_", total, gradients)
                losses += own * is_counted
        return [*total, parallel.gather(losses.cpu()).sum(0).to(self.device)]

    def collect(self, tensor: Tensor) -> Tensor:
        """Return the whole of a tensor, of which each rank may have a slice."""
        if not hasattr(tensor, "full_tensor"):
            return tensor
        with parallel.explain_lost_rank():
            found: Tensor = tensor.full_tensor()
        return found.detach()

    def whole_model(self) -> Network:
        """Return a whole copy of the model, which each rank collects for itself."""
        with kept_generators(self.device):
            model = make_model(self.model.config).to(self.device)
        slices = self.model.state_dict()
        for name, tensor in model.state_dict().items():
            tensor.copy_(self.collect(slices[name]))
        return model

    def divide(self, whole: Tensor, like: Tensor) -> Tensor:
        """Return this rank's slice of a whole tensor, if another one is divided."""
        return _divide(whole.to(like.device), like) if hasattr(like, "placements") else whole

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """Return weights and optimizer state: whole on rank 0, in main memory; the others get their shapes (device "meta")."""
        kept = torch.device("meta" if parallel.rank() else "cpu")
        return {
            file: {name: self.collect(tensor).to(kept) for name, tensor in group.items()}
            for file, group in self._own_tensors().items()
        }


class _Sharded(nn.Module):
    """An objective whose model is divided between the ranks; only this module can call it."""

    def __init__(self, objective: Objective) -> None:
        # FSDP2 takes a second to import.
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import FSDPModule, fully_shard

        super().__init__()
        self.model, self.objective = objective.model, objective
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


def _divide(whole: Tensor, like: Any) -> Any:
    """Divide a whole tensor as another one is divided."""
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(whole, like.device_mesh, like.placements, src_data_rank=None)


def _clear_last_row(weight: Any) -> None:
    """Set the gradient of the last row of this rank's slice to zero."""
    weight.grad.to_local()[-1] = 0
