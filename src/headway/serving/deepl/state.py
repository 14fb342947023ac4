"""What the server keeps for DeepL's clients."""

from collections import Counter
from dataclasses import dataclass, field

from headway.serving.deepl.glossary_store import GlossaryStore


@dataclass
class DeepLState:
    """What clients have left on the server.

    Attributes:
        glossaries: Those that clients made.
        characters: The characters of each owner of a key; on a server without keys all clients are one.
    """

    glossaries: GlossaryStore
    characters: Counter[str] = field(default_factory=Counter)
