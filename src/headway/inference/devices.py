"""Devices by name."""

import torch

from headway.errors import HeadwayError


def resolve_device(name: str) -> torch.device:
    """Return the torch device of a name: auto, cpu, cuda or cuda:N.

    Raises:
        HeadwayError: If this machine has no such device.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    kind, _, number = name.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdigit()):
        raise HeadwayError(f"device '{name}' must be auto, cpu, cuda or cuda:N")
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise HeadwayError(
            f"device '{name}': torch finds no such CUDA device on this machine; use cpu"
        )
    return torch.device(name)
