"""Language codes, and the detection of a text's language."""

from collections.abc import Sequence
from copy import copy
from functools import cache
from typing import Any

from headway.errors import require_packages
from headway.text import base_code, is_translatable, shorten_code

EXAMINED = 3_000  # characters at the beginning of a text; the rest of a long text adds nothing


class LanguageDetector:
    """Detects the language of a text among the served languages.

    Args:
        codes: Codes of the served languages.

    Raises:
        HeadwayError: If a package is missing.
    """

    def __init__(self, codes: Sequence[str]) -> None:
        self.codes = list(codes)
        self._identifier = copy(_load_identifier())
        wanted = {*map(_name_label, codes)} & set(self._identifier.labels)
        self._identifier.set_languages(sorted(wanted))

    def rank(self, text: str) -> list[tuple[str, float]]:
        """Return (code, confidence from 0 to 100) of each language, the likeliest first.

        A text without letters and digits counts as English, or as the first served language.
        """
        if not is_translatable(text):
            first = "en" if "en" in self.codes else self.codes[0]
            return [(first, 0.0)]
        # py3langid may know none of the served languages.
        ranked = self._identifier.rank(text[:EXAMINED]) if self._identifier.labels else []
        known: dict[str, float] = dict(ranked)
        labels = [(code, _name_label(code)) for code in self.codes]
        found = [(code, 100 * known[label]) for code, label in labels if label in known]
        found.sort(key=lambda pair: -pair[1])
        return found or [(self.codes[0], 0.0)]


def _name_label(code: str) -> str:
    """Return the code by which py3langid knows a language, without script and country."""
    return base_code(shorten_code(code.lower()))


@cache
def _load_identifier() -> Any:
    """Return an identifier of all languages; to read it takes a second, which a reload of models saves."""
    require_packages("py3langid")
    from py3langid import langid

    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
