"""How many processes of this machine train together."""

import torch

from headway.config import TrainingConfig
from headway.errors import UsageError
from headway.training.machine import Machine
from headway.training.run_directory import RunDirectory
from headway.training.run_request import RunRequest, requested_settings


def choose_ranks(directory: RunDirectory, request: RunRequest, wanted: int = 0) -> int:
    """Return the number of ranks for a run.

    Args:
        directory: Where the run is, or will be.
        request: Checked by `check_request`.
        wanted: The user's choice; 0: none.

    Raises:
        UsageError: If the user's choice is not possible.
    """
    settings = requested_settings(directory, request)
    assert settings is not None, "the model of --init is downloaded before"
    if directory.started:
        machine = directory.record().machine.with_threads(settings.training)
    else:
        machine = Machine.resolve(settings.training)
    return count_ranks(machine, settings.training, wanted)


def count_ranks(machine: Machine, settings: TrainingConfig, wanted: int = 0) -> int:
    """Return the number of ranks: as many as wanted, or one a core or GPU.

    Raises:
        UsageError: If a step has fewer micro-batches than ranks are wanted, or one rank would have to
            divide the model.
    """
    count = settings.micro_batches_per_step
    if wanted < 0:
        raise UsageError(f"--ranks {wanted}: must be 1 or more")
    if wanted > count:
        raise UsageError(
            f"--ranks {wanted}: a step has {count} micro-batches (training.batch_tokens ="
            f" {settings.batch_tokens}, divided by micro_batch_tokens = {settings.micro_batch_tokens}):"
            f" give --ranks {count} or fewer"
        )
    available = machine.threads
    if machine.device != "cpu":
        available = torch.cuda.device_count() if machine.device == "cuda" else 1
    ranks = wanted or max(1, min(available, count))
    if settings.shard and ranks == 1:
        raise UsageError(
            "training.shard = true: one rank has no other to divide the model with: give --ranks 2 or"
            " more, with at least as many micro-batches in a step (training.batch_tokens)"
        )
    return ranks
