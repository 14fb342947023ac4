"""How many processes of this machine train together."""

import os

import torch

from headway.config import TrainingConfig
from headway.errors import UsageError
from headway.training.machine import Machine


def check_ranks(machine: Machine, settings: TrainingConfig) -> None:
    """Check that each of the ranks that a launcher has started has work, and a GPU of its own.

    Raises:
        UsageError: If not.
    """
    names = "WORLD_SIZE", "LOCAL_WORLD_SIZE", "LOCAL_RANK"
    ranks, local, number = (int(os.environ.get(name, "0")) for name in names)
    _check(
        machine, settings, ranks, max(local, number + 1)
    )  # Slurm's tasks may not count each other


def count_ranks(machine: Machine, settings: TrainingConfig, wanted: int = 0) -> int:
    """Return the number of ranks: as many as wanted, or one a core or GPU.

    Raises:
        UsageError: If a step has fewer micro-batches than ranks are wanted, each GPU has a rank already,
            or one rank would have to divide the model.
    """
    if wanted < 0:
        raise UsageError(f"--ranks {wanted}: must be 1 or more")
    places = machine.threads if machine.device == "cpu" else _count_gpus(machine)
    ranks = wanted or max(1, min(places, settings.micro_batches_per_step))
    _check(machine, settings, ranks, ranks)
    return ranks


def _count_gpus(machine: Machine) -> int:
    return torch.cuda.device_count() if machine.device == "cuda" else 1


def _check(machine: Machine, settings: TrainingConfig, ranks: int, local: int) -> None:
    """Check the number of ranks, and of those that run on this machine."""
    count = settings.micro_batches_per_step
    if ranks > count:
        raise UsageError(
            f"{ranks} ranks: a step has {count} micro-batches (training.batch_tokens ="
            f" {settings.batch_tokens}, divided by micro_batch_tokens = {settings.micro_batch_tokens}):"
            f" start {count} ranks or fewer, or begin another run with more micro-batches"
        )
    if settings.shard and ranks == 1:
        raise UsageError(
            "training.shard = true: one rank has no other to divide the model with: give --ranks 2 or"
            " more, with at least as many micro-batches in a step (training.batch_tokens)"
        )
    if machine.device != "cpu" and local > (gpus := _count_gpus(machine)):
        raise UsageError(
            f"{local} ranks on this machine need a GPU each, and training.device = '{machine.device}' has {gpus}: start"
            f" {gpus} or fewer, and let every rank see all GPUs (Slurm: --gpus-per-node)"
        )
