"""Devices: their names, and whether they multiply bf16 numbers fast."""

import re

import torch

from headway.errors import UsageError


def resolve_device(name: str, setting: str = "device", advice: str = "use cpu") -> torch.device:
    """Return the torch device of a name: auto, cpu, cuda or cuda:N.

    Args:
        name: "auto" is the current GPU if there is one, else the processor.
        setting: What the error message calls the name.
        advice: What the error message tells the user to do instead.

    Raises:
        UsageError: If the name is malformed or torch does not see the device.
    """
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", name):
        raise UsageError(f"{setting} = '{name}' must be auto, cpu, cuda or cuda:N")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        name = "cuda" if count else "cpu"
    if name.startswith("cuda") and int(name[5:] or 0) >= count:
        available = f"cuda:0 to cuda:{count - 1}" if count else "no CUDA device"
        raise UsageError(f"{setting} = '{name}', but torch sees {available} here: {advice}")
    return torch.device(name)


def has_bf16(device: torch.device) -> bool:
    """Whether bf16 products are faster than fp32 ones, which takes instructions made for them.

    oneDNN and CUDA also claim to support bf16 where they emulate it, several times slower than
    fp32.
    """
    if device.type == "cuda":
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported(False)
    from headway.torch_private import has_bf16_instructions

    return has_bf16_instructions()
