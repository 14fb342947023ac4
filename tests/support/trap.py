"""A pickle that shows whether it was loaded."""

from collections.abc import Callable
from pathlib import Path


class Trap:
    """An object that creates a file when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return Path.touch, (self.canary,)
