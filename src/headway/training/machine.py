"""What a run computes with (device, precision, threads, ranks), and how a process is set up and left as it was."""

import ctypes
import gc
import hashlib
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Literal

import torch

from headway.config import TrainingConfig
from headway.devices import available_cores, has_bf16, resolve_device
from headway.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The settings device, precision and threads, with "auto" resolved.

    A run keeps its precision for life, because it changes the results.

    Attributes:
        device: "cpu", "cuda" or "cuda:N".
        precision: Of matrix products; weights and optimizer state are always fp32.
        threads: Processor threads of all ranks on this machine.
    """

    device: str
    precision: Literal["bf16", "fp32"]
    threads: int

    @classmethod
    def resolve(cls, config: TrainingConfig) -> "Machine":
        """Choose for this machine what the settings leave open.

        Raises:
            HeadwayError: If the device is not available.
        """
        device, precision = resolve_device(config.device, "training.device"), config.precision
        if precision == "auto":
            precision = "bf16" if has_bf16(device) else "fp32"
        threads = config.threads or available_cores()
        return cls(device=str(device), precision=precision, threads=threads)

    def with_changes(self, device: str, now: TrainingConfig) -> "Machine":
        """Return what a run computes with when it goes on: its precision, and the device unless that is changed.

        Args:
            device: The setting of the device until now.
            now: The settings from now on.

        Raises:
            HeadwayError: If another device is wanted, and not available.
        """
        threads, place = now.threads or available_cores(), self.device
        if now.device != device:
            place = str(resolve_device(now.device, "training.device"))
        return replace(self, device=place, threads=threads)

    @property
    def threads_per_rank(self) -> int:
        """The threads of this process; the ranks of one machine divide them evenly."""
        return max(1, self.threads // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))

    @property
    def torch_device(self) -> torch.device:
        """The device of this process; under ``torchrun`` each rank of a machine has its own GPU."""
        if self.device == "cuda":
            return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        return torch.device(self.device)


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


def configure_process(threads: int = 0, device: torch.device | None = None) -> None:
    """Set up a process that does nothing but train.

    This changes state of the whole process: the allocator, the garbage collector, torch's threads
    and its current GPU. So only commands call it, never the library.

    Args:
        threads: Threads that torch computes with; 0 keeps torch's own number.
        device: A GPU becomes torch's current one.
    """
    keep_large_allocations()
    gc.freeze()  # objects that exist now stay: the collector need not visit them at every step
    if threads:
        torch.set_num_threads(threads)
    if device is not None and device.type == "cuda":
        torch.cuda.set_device(device)


def keep_large_allocations() -> None:
    """Let glibc keep freed memory blocks instead of returning them to the kernel.

    Otherwise each large tensor consists of new pages, which the kernel fills with zeros first. This
    is worth 20 to 35 % of a small model's training speed. Other C libraries are left alone.
    """
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        m_trim_threshold, m_top_pad, m_mmap_max = -1, -2, -4
        libc.mallopt(m_mmap_max, 0)  # its threshold cannot be raised above 32 MB
        libc.mallopt(m_trim_threshold, 1 << 30)
        libc.mallopt(m_top_pad, 64 << 20)


@contextmanager
def thread_count(threads: int) -> Iterator[None]:
    """Compute with a number of threads for a moment; afterwards torch has as many as before."""
    before = torch.get_num_threads()
    if threads == before:
        yield
        return
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def kept_generators(device: torch.device) -> AbstractContextManager[None]:
    """Restore torch's generators at the end, so that a training changes no other random number."""
    return torch.random.fork_rng([device] if device.type == "cuda" else [])


def seed_generators(device: torch.device, *key: int) -> None:
    """Seed torch's generators for the CPU and the device with the hash of a few numbers.

    The random numbers of a micro-batch depend on the seed of the run, the step and the micro-batch's
    number alone, so every rank can draw them, and a resumed run draws them again.
    """
    digest = hashlib.blake2b(repr(key).encode(), digest_size=8).digest()
    seed = int.from_bytes(digest, "little")
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(seed)


def peak_memory(device: torch.device) -> int:
    """Return the most bytes that this process has held so far on the device it works on."""
    if device.type != "cpu":
        # Recordings keep memory that is not allocated, and that nothing else can have.
        return torch.cuda.max_memory_reserved(device)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024
