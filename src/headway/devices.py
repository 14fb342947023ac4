"""What this machine has: cores and devices; and processes on it that end or go on with each other."""

import ctypes
import math
import multiprocessing
import os
import re
import signal
import sys
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from headway.errors import UsageError

if TYPE_CHECKING:
    import torch


def resolve_device(name: str, setting: str = "device", advice: str = "use cpu") -> "torch.device":
    """Return the torch device of a name: auto, cpu, cuda or cuda:N.

    Args:
        name: "auto" is the current GPU if there is one, else the processor.
        setting: What the error message calls the name.
        advice: What the error message tells the user to do instead.

    Raises:
        UsageError: If the name is malformed or torch does not see the device.
    """
    import torch

    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", name):
        raise UsageError(f"{setting} = '{name}' must be auto, cpu, cuda or cuda:N")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        name = "cuda" if count else "cpu"
    if name.startswith("cuda") and int(name[5:] or 0) >= count:
        available = f"cuda:0 to cuda:{count - 1}" if count else "no CUDA device"
        raise UsageError(f"{setting} = '{name}', but torch sees {available} here: {advice}")
    return torch.device(name)


def has_bf16(device: "torch.device") -> bool:
    """Whether bf16 products are faster than fp32 ones, which takes instructions made for them.

    oneDNN and CUDA also claim to support bf16 where they emulate it, several times slower than
    fp32.
    """
    if device.type == "cuda":
        import torch

        return torch.cuda.is_available() and torch.cuda.is_bf16_supported(False)
    from headway.torch_private import has_bf16_instructions

    return has_bf16_instructions()


CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")
PR_SET_PDEATHSIG = 1  # of prctl(2)


def available_cores() -> int:
    """Count the cores that this process may use: those it may run on, within a container's quota."""
    usable = getattr(os, "sched_getaffinity", None)
    count = len(usable(0)) if usable else os.cpu_count() or 1
    return max(1, math.ceil(min(count, cpu_quota())))


def cpu_quota() -> float:
    """Return how many cores' time the kernel grants to this process; infinite without a limit.

    A container with a quota of two cores on a machine of 64 may run on all 64; as many threads then
    wait for each other most of the time.
    """
    try:
        own = [line.split(":", 2) for line in OWN_CGROUP.read_text("utf-8").splitlines()]
    except OSError:
        return math.inf
    limits = [math.inf]
    for _, controllers, path in own:
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = CGROUPS / controllers if controllers else CGROUPS
        inner = root / path.strip("/")
        # A group's limit holds for all groups inside it; a container sees its own group as the root.
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(root):
                limits.append(_read_limit(folder))
    return min(limits)


def _read_limit(folder: Path) -> float:
    """Read the limit of one group, of either version of the kernel's interface."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            words = " ".join((folder / name).read_text("utf-8") for name in names).split()
            time, period = (float(word) for word in words)
        except (OSError, ValueError):  # no such file, or "max"
            continue
        if time > 0 and period > 0:
            return time / period
    return math.inf


def end_with_parent(parent: int) -> None:
    """End this process when its parent ends: on Linux the kernel kills it.

    Elsewhere a thread waits for the parent, in processes that `multiprocessing` has started.

    Args:
        parent: The process number of the parent, which may have ended already.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    elif (process := multiprocessing.parent_process()) is not None:

        def wait() -> None:
            process.join()
            os._exit(1)

        threading.Thread(target=wait, daemon=True).start()


@cache
def survive_forks() -> None:
    """Let processes that are forked from this one compute with one thread, if this one has used several.

    This concerns GCC's OpenMP, with which PyTorch computes on Linux.
    """
    has_used_threads = False

    def look() -> None:
        nonlocal has_used_threads
        tasks = len([*Path("/proc/self/task").iterdir()])
        has_used_threads = tasks > threading.active_count()

    def use_one_thread() -> None:
        if has_used_threads:
            import torch

            torch.set_num_threads(1)

    if sys.platform == "linux":
        os.register_at_fork(before=look, after_in_child=use_one_thread)
