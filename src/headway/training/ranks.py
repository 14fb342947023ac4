"""Training on several ranks: the processes that ``torchrun`` starts, each with some micro-batches of every step.

In a run with one rank every function returns its argument. Each rank draws its own dropout. If a rank
has ended, the functions that exchange numbers raise a `LostRankError` in the others.
"""

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, distributed, nn

from headway.errors import LostRankError


def join() -> None:
    """Join the other ranks if ``torchrun`` started this process."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not distributed.is_initialized():
        # torch.distributed.nn.functional keeps the process group that exists when it is imported,
        # and the optimizer imports it. A group that is kept has threads that outlive `leave`, and
        # some of them end the process with SIGABRT. So it is imported before there is a group.
        importlib.import_module("torch.distributed.nn.functional")
        # Numbers travel by gloo; gradients on CUDA by nccl.
        cuda = torch.cuda.is_available()
        distributed.init_process_group("cpu:gloo,cuda:nccl" if cuda else "gloo")


def leave() -> None:
    """Leave the other ranks."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


def world_size() -> int:
    """Return how many ranks train together."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def rank() -> int:
    """Return this process's rank; rank 0 writes all files."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def sum_tensor(values: Tensor) -> Tensor:
    """Sum a tensor over all ranks, in place."""
    if world_size() > 1:
        with _explain_lost_rank():
            distributed.all_reduce(values)
    return values


def sum_number(number: int) -> int:
    """Sum a number over all ranks."""
    return int(sum_tensor(torch.tensor(number)).item()) if world_size() > 1 else number


def maximum(number: int) -> int:
    """Return the largest of the ranks' numbers."""
    if world_size() == 1:
        return number
    value = torch.tensor(number)
    with _explain_lost_rank():
        distributed.all_reduce(value, distributed.ReduceOp.MAX)
    return int(value.item())


def sum_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Sum the gradients over all ranks, in one message."""
    if world_size() == 1:
        return
    parameters = list(parameters)
    for parameter in parameters:
        if parameter.grad is None:  # this rank has no part in the last step of an epoch
            parameter.grad = torch.zeros_like(parameter)
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = sum_tensor(torch.cat([gradient.flatten() for gradient in gradients]))
    for gradient, part in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


def wait() -> None:
    """Wait for the other ranks."""
    if world_size() > 1:
        with _explain_lost_rank():
            distributed.barrier()


def broadcast(numbers: Sequence[float]) -> list[float]:
    """Send the numbers of rank 0 to all ranks; the others only pass as many numbers."""
    if world_size() == 1:
        return list(numbers)
    values = torch.tensor(numbers, dtype=torch.float64)
    with _explain_lost_rank():
        distributed.broadcast(values, 0)
    return [float(value) for value in values.tolist()]


def random_states(device: torch.device) -> dict[str, Tensor]:
    """Return the states of all ranks' generators: "cpu.0", "cuda.0", "cpu.1", ..."""
    own = {f"cpu.{rank()}": torch.get_rng_state()}
    if device.type == "cuda":
        own[f"cuda.{rank()}"] = torch.cuda.get_rng_state(device)
    if world_size() == 1:
        return own
    gathered: list[dict[str, Tensor]] = [{} for _ in range(world_size())]
    with _explain_lost_rank():
        distributed.all_gather_object(gathered, own)
    return {name: state for states in gathered for name, state in states.items()}


def set_random_states(states: Mapping[str, Tensor], device: torch.device) -> None:
    """Set this rank's generators to what `random_states` returned."""
    torch.set_rng_state(states[f"cpu.{rank()}"])
    if device.type == "cuda":
        torch.cuda.set_rng_state(states[f"cuda.{rank()}"], device)


@contextmanager
def _explain_lost_rank() -> Iterator[None]:
    """Turn the error of an exchange with a rank that has ended into a message of one line."""
    try:
        yield
    except RuntimeError:
        raise LostRankError(
            "another rank of this training has ended: its own message says why; if there is none, the same"
            " command goes on from the last checkpoint"
        ) from None
