"""The random numbers of a run, apart from those of the process it runs in."""

import torch
from torch import Tensor


class RandomStream:
    """A seeded stream of torch's random numbers.

    Within ``with stream:`` torch's generators continue the stream. Outside, they are what they were
    before, so that a run changes no random number of the program that trains it.

    Args:
        seed: Of the stream.
        device: A GPU has a generator of its own, which belongs to the stream too.
    """

    def __init__(self, seed: int, device: torch.device) -> None:
        self._device = device
        self._outside = self._states()
        torch.default_generator.manual_seed(seed)
        if device.type == "cuda":
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        self._inside = self._states()
        self._set_states(self._outside)

    def __enter__(self) -> None:
        self._outside = self._states()
        self._set_states(self._inside)

    def __exit__(self, *_: object) -> None:
        self._inside = self._states()
        self._set_states(self._outside)

    def _states(self) -> list[Tensor]:
        states = [torch.get_rng_state()]
        if self._device.type == "cuda":
            states.append(torch.cuda.get_rng_state(self._device))
        return states

    def _set_states(self, states: list[Tensor]) -> None:
        torch.set_rng_state(states[0])
        if self._device.type == "cuda":
            torch.cuda.set_rng_state(states[1], self._device)
