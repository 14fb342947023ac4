"""The languages of a translation, and the language codes in a document that it changes."""

from dataclasses import dataclass


@dataclass
class Language:
    """The languages of a translation.

    Attributes:
        source: Language code of the text; if it is not known, that of the first text that names one.
        target: Language code of the translation; "": nothing is changed.
    """

    source: str
    target: str

    def replaces(self, code: str) -> bool:
        """Return whether a language code is that of the text, and another one takes its place."""
        if not self.target or not code or code == "none":
            return False
        self.source = self.source or code
        primary = [each.replace("_", "-").partition("-")[0].lower() for each in (code, self.source, self.target)]  # fmt: skip
        return primary[0] == primary[1] and primary[0] != primary[2]
