"""torch's random numbers as functions of keys, apart from those of the program around a training."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def kept_generators(device: torch.device) -> Iterator[None]:
    """Restore torch's generators at the end, so that a training changes no other random number."""
    cpu = torch.get_rng_state()
    own = torch.cuda.get_rng_state(device) if device.type == "cuda" else None
    try:
        yield
    finally:
        torch.set_rng_state(cpu)
        if own is not None:
            torch.cuda.set_rng_state(own, device)


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
