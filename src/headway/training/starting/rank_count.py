"""How many processes of this machine train together."""

import os

import torch

from headway.config import TrainingConfig
from headway.errors import UsageError
from headway.training.machine import Machine


def count_ranks(machine: Machine, settings: TrainingConfig, wanted: int = 0) -> int:
    """Return the number of ranks: those that a launcher has started, or as many as wanted, or one a core or GPU.

    Raises:
        UsageError: If a step has fewer micro-batches than there are ranks, each GPU has a rank already,
            or one rank would have to divide the model.
    """
    names = "WORLD_SIZE", "LOCAL_WORLD_SIZE", "LOCAL_RANK"
    started, local, number = (int(os.environ.get(name, "0")) for name in names)
    if started and wanted:
        raise UsageError("--ranks: a launcher has started the ranks already: omit it")
    if wanted < 0:
        raise UsageError(f"--ranks {wanted}: must be 1 or more")
    gpus = torch.cuda.device_count() if machine.device == "cuda" else 1
    places = machine.threads if machine.device == "cpu" else gpus
    count = settings.micro_batches_per_step
    ranks = started or wanted or max(1, min(places, count))
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
    # Slurm's tasks may not count each other.
    local = max(local, number + 1) if started else ranks
    if machine.device != "cpu" and local > gpus:
        raise UsageError(
            f"{local} ranks on this machine need a GPU each, and training.device = '{machine.device}' has {gpus}: start"
            f" {gpus} or fewer, and let every rank see all GPUs (Slurm: --gpus-per-node)"
        )
    return ranks
