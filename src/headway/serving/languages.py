"""Which language a text is in."""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

from headway.errors import HeadwayError

# Other codes that clients of LibreTranslate have for some languages.
SAME = {"pb": "pt-br", "zt": "zh-hant", "zh-hans": "zh"}
UNSPACED = {"zh", "zh-Hans", "zh-Hant", "ja", "th", "lo", "km", "my"}  # no space after a sentence
READ = 3_000  # characters that are looked at: the rest of a long text says nothing new


def plain(code: str) -> str:
    """Return what two codes of one language have in common: case is nothing, some have two names."""
    lowered = code.lower()
    return SAME.get(lowered, lowered)


def translatable(text: str) -> bool:
    """Whether there is anything to translate: a letter or a digit."""
    return any(character.isalnum() for character in text)


class Detector:
    """Tells languages apart, among those served only.

    Args:
        codes: Of the languages served; the first is what a text without letters counts as.
    """

    def __init__(self, codes: Sequence[str]) -> None:
        self.codes = list(codes)
        self._identifier: Any = None
        self._lock = threading.Lock()

    def rank(self, text: str) -> list[tuple[str, float]]:
        """Return (code, confidence from 0 to 100) of each likely language, the likeliest first.

        Raises:
            HeadwayError: If a package is missing.
        """
        if not translatable(text):
            first = "en" if "en" in self.codes else self.codes[0]
            return [(first, 0.0)]
        with self._lock:
            if self._identifier is None:
                self._identifier = _identifier(self.codes)
        # One language leaves nothing to compare, and none nothing to ask.
        ranked = self._identifier.rank(text[:READ]) if self._identifier.labels else []
        known: dict[str, float] = dict(ranked)
        found = [(code, 100 * known[code.partition("-")[0]]) for code in self._known(known)]
        found.sort(key=lambda pair: -pair[1])
        return found or [(self.codes[0], 0.0)]

    def _known(self, labels: Iterable[str]) -> list[str]:
        labels = set(labels)
        return [code for code in self.codes if code.partition("-")[0] in labels]


def _identifier(codes: Sequence[str]) -> Any:
    try:
        from py3langid import langid
    except ImportError:
        raise HeadwayError(
            'telling languages apart needs py3langid: pip install "headway[serve]"'
        ) from None
    found = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    wanted = {code.partition("-")[0] for code in codes} & set(found.labels)
    found.set_languages(sorted(wanted))
    return found
