"""What the server keeps for DeepL's clients."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class DeepLState:
    """What clients have left on the server.

    Attributes:
        characters: The characters of each owner of a key; on a server without keys all clients are one.
    """

    characters: Counter[str] = field(default_factory=Counter)
