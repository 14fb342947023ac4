"""State of the whole process, which only commands set: environment, threads, native code."""

import os
import sys
from typing import TYPE_CHECKING

from headway.errors import UsageError

if TYPE_CHECKING:
    import torch

# Variables that the libraries beneath torch read when they are loaded, for a process that trains.
TRAINING_ENVIRONMENT = {
    # Idle OpenMP threads spin for milliseconds before they sleep. If other processes use the
    # processor too, the thread that they wait for runs at a quarter of its speed. 20,000 turns are
    # enough on a quiet machine.
    "GOMP_SPINCOUNT": "20000",
    # Compiled matrix products, half a megabyte each. Almost every batch has a size of its own, so
    # the default of 1,024 products costs memory and saves no time.
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "128",
}
MOST_THREADS = 1024  # OpenMP crashes if the system cannot start as many as it is told


def set_training_environment() -> None:
    """Set `TRAINING_ENVIRONMENT` before torch is loaded; variables that the user has set stay."""
    for name, value in TRAINING_ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def set_threads(threads: int) -> None:
    """Let torch use this many processor threads; 0: as many as the container may use."""
    if not 0 <= threads <= MOST_THREADS:
        raise UsageError(
            f"--threads {threads:,}: must be 1 to {MOST_THREADS:,}, or 0 for all cores"
        )
    import torch

    from headway.devices import available_cores

    if threads or available_cores() < torch.get_num_threads():
        torch.set_num_threads(threads or available_cores())


def prepare(work: str, device: "torch.device", *, quiet: bool = False) -> None:
    """Make a device ready for "training" or "decoding", and say on standard error what is missing, unless ``quiet``."""
    from headway.extension import prepare_device

    if (missing := prepare_device(device.type, work)) and not quiet:
        print(missing, file=sys.stderr)
