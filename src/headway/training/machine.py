"""What a run computes with: device, precision, threads, and how memory is kept."""

import ctypes
import gc
import os
import re
import resource
import sys
from dataclasses import dataclass
from typing import Literal

import torch

from headway.config import TrainingConfig
from headway.errors import HeadwayError
from headway.kernels.processor import has_bf16, processors


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Settings that said "auto", resolved; a run keeps them for life, for they change last bits.

    Attributes:
        device: "cpu", "cuda" or "cuda:N".
        precision: Of matrix products; weights and optimizer state are fp32 in any case.
        threads: Processor threads.
    """

    device: str
    precision: Literal["bf16", "fp32"]
    threads: int

    @classmethod
    def resolve(cls, config: TrainingConfig) -> "Machine":
        """Choose for this machine what the settings leave open.

        Raises:
            HeadwayError: If the wanted device is not there.
        """
        cls.check(config.device)
        device = config.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(
            device=device,
            precision=(
                config.precision
                if config.precision != "auto"
                else "bf16"
                if has_bf16(torch.device(device))
                else "fp32"
            ),
            threads=config.threads or share(),
        )

    @classmethod
    def check(cls, device: str, otherwise: str = "use cpu") -> None:
        """Refuse a device that cannot be used here.

        Args:
            device: "auto", "cpu", "cuda" or "cuda:N".
            otherwise: What the user is to do instead.

        Raises:
            HeadwayError: Saying so.
        """
        if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", device):
            raise HeadwayError(f"training.device = '{device}' must be auto, cpu, cuda or cuda:N")
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if device.startswith("cuda") and int(device[5:] or 0) >= count:
            there = f"cuda:0 to cuda:{count - 1}" if count else "no CUDA device"
            raise HeadwayError(
                f"training.device = '{device}', but torch sees {there} here: {otherwise}"
            )

    @property
    def emulates(self) -> bool:
        """Whether the precision has no instructions here, and takes several times longer than fp32."""
        return self.precision == "bf16" and not has_bf16(torch.device(self.device))

    def prepare(self) -> torch.device:
        """Set the number of threads, and return the device."""
        torch.set_num_threads(self.threads)
        device = torch.device(self.device)
        if self.device == "cuda":  # torchrun numbers the processes of a machine
            device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
            torch.cuda.set_device(device)
        return device


def share() -> int:
    """Count the processors for this process; ``torchrun``'s of one machine have equal shares."""
    return max(1, processors() // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def settle() -> None:
    """Set up a process that does nothing but train: for a command, or a helping process.

    What is there now stays: the collector need not walk through it again at every step.
    """
    keep_large_allocations()
    gc.freeze()


def keep_large_allocations() -> None:
    """Let glibc keep freed blocks: else each large tensor is new pages from the kernel, zeroed.

    Worth 20 to 35 % of a small model's training speed. Does nothing where the C library is another.
    """
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        m_trim_threshold, m_top_pad, m_mmap_max = -1, -2, -4
        libc.mallopt(m_mmap_max, 0)  # its threshold cannot be raised above 32 MB
        libc.mallopt(m_trim_threshold, 1 << 30)
        libc.mallopt(m_top_pad, 64 << 20)


def peak_memory(device: str) -> int:
    """Return the most bytes this process has held so far, on the device it trains on."""
    if device != "cpu":
        return torch.cuda.max_memory_allocated(device)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024
