"""How many characters each client of DeepL's addresses has sent."""

import json
import logging
from collections import Counter
from pathlib import Path

from headway.errors import HeadwayError
from headway.files import read_json, replace_text

log = logging.getLogger("headway.ext.server")
MOST_BYTES = 100_000_000  # of the file


class Usage:
    """Counts the characters of each owner of a key; without keys all clients are one.

    Args:
        file: Keeps the counts when the server ends; "": they are lost.

    Raises:
        HeadwayError: If the file is there, and cannot be read or holds no counts.
    """

    def __init__(self, file: str = "") -> None:
        self.file = Path(file) if file else None
        self.characters = Counter[str]()
        if self.file is not None and self.file.exists():
            counts = read_json(self.file, MOST_BYTES)
            if not isinstance(counts, dict) or not all(type(n) is int for n in counts.values()):
                raise HeadwayError(
                    f"{self.file}: holds no counts of characters: name another file, or delete it"
                )
            self.characters.update(counts)
        self._saved = self.characters.copy()

    def save(self) -> None:
        """Write the counts to the file, if they have changed; if that fails, the log says so, and the next call tries again."""
        counts = self.characters.copy()
        if self.file is None or counts == self._saved:
            return
        try:
            replace_text(self.file, json.dumps(counts))
        except OSError as error:
            log.error("the usage cannot be written: %s", error)
        else:
            self._saved = counts
