"""A model that is larger than a device: each rank holds a slice of the weights and of Adam's state.

torch's FSDP2 collects the weights of a layer from all ranks while the layer computes, and frees them
again. The embeddings and the output belong to no layer: they are whole from the start of the forward
pass to the end of the backward pass.

In each round of a step, every rank computes one micro-batch, and torch sums the gradients of the round.
The sums of the rounds are added along the fixed tree (`headway.training.steps.gradient_sum`). With 2 ranks
that is the tree of a run that is not sharded, so the bits are the same. With another number of ranks, and
with `training.agreement`, the sums differ by rounding.
"""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, Shard

from headway.errors import UsageError
from headway.model import Layer, Network
from headway.model.embeddings import Embedding
from headway.text.batches import Batch
from headway.training import parallel
from headway.training.steps.gradient_sum import (
    Gradient,
    add_subtrees,
    add_up,
    divide_share,
)
from headway.training.steps.objective import Loss, Objective, compute_gradient


class Sharding:
    """Divides a model between the ranks, and computes the gradient of each rank's slices.

    Every method must be called by all ranks.

    Args:
        objective: Its model becomes sharded: it can no longer be called, copied or loaded.

    Attributes:
        slices: Parameter name -> this rank's rows of each trained parameter, which may be none.

    Raises:
        UsageError: If there is only one rank.
    """

    def __init__(self, objective: Objective) -> None:
        if parallel.world_size() == 1:
            raise UsageError("training.shard = true: start several ranks: give --ranks 2 or more")
        self.model = objective.model
        self.device = next(self.model.parameters()).device
        self.root = _Root(objective)
        layers = [module for module in self.model.modules() if isinstance(module, Layer)]
        index = self.device.index if self.device.type == "cuda" else -1  # -1: does nothing
        with torch.cuda.device(index):  # FSDP2 takes the current GPU
            self.mesh = init_device_mesh(self.device.type, (parallel.world_size(),))
            for module in (*layers, self.root):
                sharded = fully_shard(module, mesh=self.mesh)
                assert isinstance(sharded, FSDPModule)
                # Plain sums: FSDP2 would divide them by the number of ranks.
                sharded.set_gradient_divide_factor(1.0)
                sharded.set_force_sum_reduction_for_comms(True)
        self.trained = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        self.slices = {
            name: own_rows(p).detach().requires_grad_() for name, p in self.trained.items()
        }

    def compute(self, batch: Batch, tokens: int, low_precision: bool, count: int) -> Gradient:
        """Return the sum of a round: for each trained parameter this rank's slice, and the losses, [2].

        Args:
            batch: The micro-batch of this rank.
            tokens: Target tokens of the whole step.
            low_precision: Whether matrix products are in bfloat16.
            count: The first ``count`` ranks have a micro-batch in this round; the others only help.
        """
        counts = parallel.rank() < count
        divisor = tokens if counts else math.inf  # so that its gradient is zero
        with parallel.explain_lost_rank():
            found, losses = compute_gradient(self.model, self.root, batch, divisor, low_precision)
        slices = [
            own_rows(found[p]) if p in found else torch.zeros_like(self.slices[name])
            for name, p in self.trained.items()
        ]
        losses = parallel.gather(losses.cpu())[:count].sum(0)
        return [*slices, losses.to(self.device)]

    def gradient(self, compute: Callable[[int, int], Gradient], count: int) -> Gradient:
        """Return the gradient of a step of ``count`` micro-batches, and its losses.

        Args:
            compute: Given the number of a round and of its micro-batches, returns `compute`'s result.
            count: Micro-batches of all ranks.
        """
        ranks = parallel.world_size()

        def compute_round(number: int) -> Gradient:
            return compute(number, min(ranks, count - number * ranks))

        rounds = range(-(-count // ranks))
        *slices, losses = add_subtrees(
            [(subtree, add_up(subtree, compute_round)) for subtree in divide_share(rounds)]
        )
        self._clear_padding(dict(zip(self.trained, slices, strict=True)))
        return [*slices, losses]

    def norm(self, slices: Gradient) -> Tensor:
        """Return the norm of a whole gradient, whose tensors are collected one after the other."""
        norms = [
            torch.linalg.vector_norm(self.collect(name, own))
            for name, own in zip(self.trained, slices, strict=True)
        ]
        return torch.linalg.vector_norm(torch.stack(norms))

    def collect(self, name: str, own: Tensor) -> Tensor:
        """Return the whole tensor of which each rank has the same rows as of a parameter."""
        parameter = self.trained[name]
        with parallel.explain_lost_rank():
            whole = DTensor.from_local(
                own,
                self.mesh,
                [Shard(0)],
                run_check=False,
                shape=parameter.shape,
                stride=parameter.stride(),
            ).full_tensor()
        assert isinstance(whole, Tensor)
        return whole

    def collect_model(self, whole: Network) -> None:
        """Copy the weights into a model that is not sharded."""
        own, sharded = whole.state_dict(), self.model.state_dict()
        for name, tensor in own.items():
            tensor.copy_(self._whole(sharded[name]))

    def collect_all(self, state: dict[tuple[str, str], Tensor]) -> dict[str, dict[str, Tensor]]:
        """Return whole weights and optimizer state on rank 0, and their shapes on the other ranks.

        Args:
            state: (key, parameter name) -> this rank's slice of the optimizer's state, or a scalar.
        """
        kept = torch.device("meta" if parallel.rank() else "cpu")
        weights = self.model.state_dict()
        return {
            "model": {name: self._whole(tensor).to(kept) for name, tensor in weights.items()},
            "optimizer": {
                f"{key}.{name}": (self.collect(name, own) if own.dim() else own).to(kept)
                for (key, name), own in state.items()
            },
        }

    def load(self, weights: Mapping[str, Tensor]) -> None:
        """Replace the weights by this rank's rows of whole ones."""
        for name, tensor in self.model.state_dict().items():
            if isinstance(tensor, DTensor):
                own_rows(tensor).copy_(self.rows_of(weights[name]))
            else:
                tensor.copy_(weights[name])

    def is_finite(self) -> bool:
        """Whether every weight of all ranks is a finite number."""
        own = [
            own_rows(tensor) if isinstance(tensor, DTensor) else tensor
            for tensor in self.model.state_dict().values()
        ]
        (has_others,) = parallel.maximum([not all(bool(t.isfinite().all()) for t in own)])
        return not has_others

    def _whole(self, tensor: Tensor) -> Tensor:
        if not isinstance(tensor, DTensor):
            return tensor
        with parallel.explain_lost_rank():
            whole = tensor.full_tensor()
        assert isinstance(whole, Tensor)
        return whole.detach()

    def rows_of(self, whole: Tensor) -> Tensor:
        """Return this rank's rows of a whole tensor."""
        parts = whole.chunk(parallel.world_size())
        return parts[parallel.rank()] if parallel.rank() < len(parts) else whole[:0]

    def _clear_padding(self, gradient: dict[str, Tensor]) -> None:
        """Set the gradient of each embedding of ``<pad>`` to zero; its hook is lost by sharding."""
        for name, module in self.model.named_modules():
            if isinstance(module, Embedding) and f"{name}.weight" in gradient:
                rows = self.trained[f"{name}.weight"].size(0)
                if self.rows_of(torch.arange(rows))[-1:].tolist() == [rows - 1]:
                    gradient[f"{name}.weight"][-1] = 0


class _Root(nn.Module):
    """An objective as a module, whose call collects the weights that belong to no layer."""

    def __init__(self, objective: Objective) -> None:
        super().__init__()
        self.model = objective.model
        self.objective = objective

    def forward(self, batch: Batch) -> Loss:
        return self.objective(batch)


def own_rows(sharded: Tensor) -> Tensor:
    """Return this rank's rows of a tensor that is divided between the ranks; they share memory."""
    assert isinstance(sharded, DTensor)
    with torch.no_grad():
        return sharded.to_local()
