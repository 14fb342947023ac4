"""How many processes of this machine train together."""

import os

import torch

from headway.config import TrainingConfig
from headway.errors import UsageError
from headway.training.machine import Machine


def check_ranks(machine: Machine, settings: TrainingConfig, ranks: int) -> None:
    """Check that each of the ranks that a launcher has started has work, and a GPU of its own.

    Raises:
        UsageError: If not.
    """
    _check(settings, ranks)
    if machine.device == "cpu":
        return
    if ranks > 1 and machine.device != "cuda":
        raise UsageError(
            f"training.device = '{machine.device}' is one GPU, and {ranks} ranks need one each: start one"
            " rank, or begin a run with training.device = cuda, which gives each rank the GPU of its number"
        )
    number, local = (int(os.environ.get(name, "0")) for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE"))
    local = max(local, number + 1)  # Slurm's tasks may not count each other
    count = torch.cuda.device_count()
    if local > count:
        raise UsageError(
            f"{local} ranks on this machine need a GPU each, and each of them sees {count}: start {count} or"
            " fewer, and let every rank see all GPUs (Slurm: --gpus-per-node)"
        )


def count_ranks(machine: Machine, settings: TrainingConfig, wanted: int = 0) -> int:
    """Return the number of ranks: as many as wanted, or one a core or GPU.

    Raises:
        UsageError: If a step has fewer micro-batches than ranks are wanted, each GPU has a rank already,
            or one rank would have to divide the model.
    """
    if wanted < 0:
        raise UsageError(f"--ranks {wanted}: must be 1 or more")
    available = machine.threads
    if machine.device != "cpu":
        available = torch.cuda.device_count() if machine.device == "cuda" else 1
        if wanted > available:
            raise UsageError(
                f"--ranks {wanted}: each rank needs a GPU, and training.device = '{machine.device}' has"
                f" {available}: give --ranks {available} or fewer"
            )
    ranks = wanted or max(1, min(available, settings.micro_batches_per_step))
    _check(settings, ranks)
    return ranks


def _check(settings: TrainingConfig, ranks: int) -> None:
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
