"""A pickle that shows whether it was loaded."""

from pathlib import Path


class Trap:
    """An object that creates a file when it is unpickled."""

    def __init__(self, canary):
        self.canary = canary

    def __reduce__(self):
        return Path.touch, (self.canary,)
