"""What the processor can do that changes what is worth doing, and how much of it there is."""

import math
import os
from pathlib import Path

import torch

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


def has_bf16(device: torch.device) -> bool:
    """Whether bf16 products are faster than fp32 ones: only with instructions made for them.

    oneDNN and CUDA also say that they "support" bf16 where they merely emulate it, several times
    slower than fp32.
    """
    if device.type == "cuda":
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported(False)
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def processors() -> int:
    """Count the processors this process may use: those it may run on, within a container's quota."""
    usable = getattr(os, "sched_getaffinity", None)
    count = len(usable(0)) if usable else os.cpu_count() or 1
    return max(1, math.ceil(min(count, quota())))


def quota() -> float:
    """Return how many processors' time the kernel grants this process's groups; infinite without limit.

    A container of two processors' time on a machine of 64 may run on all of them, and 64 threads
    then wait for each other most of the time.
    """
    try:
        own = [line.split(":", 2) for line in OWN_CGROUP.read_text("utf-8").splitlines()]
    except OSError:
        return math.inf
    granted = [math.inf]
    for _, controllers, path in own:
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = CGROUPS / controllers if controllers else CGROUPS
        inner = root / path.strip("/")
        # A limit of a group holds for those in it; in a container the own group is the root.
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(root):
                granted.append(_granted(folder))
    return min(granted)


def _granted(folder: Path) -> float:
    """Read the limit of one group, of either version of the kernel's interface."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            words = " ".join((folder / name).read_text("utf-8") for name in names).split()
            time, period = (float(word) for word in words)
        except (OSError, ValueError):  # not there, or "max"
            continue
        if time > 0 and period > 0:
            return time / period
    return math.inf
