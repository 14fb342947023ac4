"""How long a piece of work takes, with all that it gives a GPU to do."""

import time
from collections.abc import Callable, Sequence

import torch


def synchronize(device: torch.device) -> None:
    """Wait until a GPU has finished all work; does nothing on a processor."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def time_work(work: Callable[[], object], device: torch.device) -> float:
    """Return the seconds of a call, with all that it gives a GPU to do."""
    synchronize(device)
    start = time.perf_counter()
    work()
    synchronize(device)
    return time.perf_counter() - start


def time_in_turns(
    works: Sequence[Callable[[], object]], device: torch.device, repeats: int, warm_ups: int
) -> list[list[float]]:
    """Return the seconds of the repeats of each work; the works take turns, and the first turns do not count."""
    turns = [[time_work(work, device) for work in works] for _ in range(warm_ups + repeats)]
    return [list(times) for times in zip(*turns[warm_ups:], strict=True)]
