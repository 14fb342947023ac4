"""Training by several processes, started by ``torchrun``: each adds its share of every step.

With one process every function here does nothing. Each process draws its own dropout.
"""

import importlib
import os
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, distributed, nn

from headway.errors import HeadwayError


def start() -> None:
    """Join the other processes if ``torchrun`` started this one."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not distributed.is_initialized():
        # Its functions take the group there is when it is imported, the optimizer imports it, and a
        # group that somebody holds has threads that outlive `stop`: some end the process with SIGABRT.
        importlib.import_module("torch.distributed.nn.functional")
        # Numbers travel by gloo; CUDA gradients by nccl.
        cuda = torch.cuda.is_available()
        distributed.init_process_group("cpu:gloo,cuda:nccl" if cuda else "gloo")


def stop() -> None:
    """Leave the other processes."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


def count() -> int:
    """Return how many processes train together."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def rank() -> int:
    """Return this process's number; 0 is the one that writes."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def sum_tensor(values: Tensor) -> Tensor:
    """Add up the tensors of all processes."""
    if count() > 1:
        distributed.all_reduce(values)
    return values


def total(number: int) -> int:
    """Add up the numbers of all processes."""
    return int(sum_tensor(torch.tensor(number)).item()) if count() > 1 else number


def highest(number: int) -> int:
    """Return the highest of the processes' numbers."""
    if count() == 1:
        return number
    value = torch.tensor(number)
    distributed.all_reduce(value, distributed.ReduceOp.MAX)
    return int(value.item())


def sum_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Add up the gradients of all processes, in one message."""
    if count() == 1:
        return
    parameters = list(parameters)
    for parameter in parameters:
        if parameter.grad is None:  # a process whose share of the last step is nothing
            parameter.grad = torch.zeros_like(parameter)
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = sum_tensor(torch.cat([gradient.flatten() for gradient in gradients]))
    for gradient, part in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(part.view_as(gradient))


def wait() -> None:
    """Wait for the other processes.

    Raises:
        HeadwayError: If one of them has ended.
    """
    if count() > 1:
        try:
            distributed.barrier()
        except RuntimeError:
            raise HeadwayError("another process has ended: what it printed says why") from None


def share(numbers: Sequence[float]) -> list[float]:
    """Return process 0's numbers to all; the others only say how many they expect."""
    if count() == 1:
        return list(numbers)
    values = torch.tensor(numbers, dtype=torch.float64)
    distributed.broadcast(values, 0)
    return [float(value) for value in values.tolist()]


def random_states(device: torch.device) -> dict[str, Tensor]:
    """Return the states of all processes' generators: "cpu.0", "cuda.0", "cpu.1", ..."""
    mine = {f"cpu.{rank()}": torch.get_rng_state()}
    if device.type == "cuda":
        mine[f"cuda.{rank()}"] = torch.cuda.get_rng_state(device)
    if count() == 1:
        return mine
    everyones: list[dict[str, Tensor]] = [{} for _ in range(count())]
    distributed.all_gather_object(everyones, mine)
    return {name: state for states in everyones for name, state in states.items()}


def set_random_states(states: Mapping[str, Tensor], device: torch.device) -> None:
    """Set this process's generators to what `random_states` returned."""
    torch.set_rng_state(states[f"cpu.{rank()}"])
    if device.type == "cuda":
        torch.cuda.set_rng_state(states[f"cuda.{rank()}"], device)
