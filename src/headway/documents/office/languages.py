"""Attributes of office files that name the language of their text."""

from dataclasses import dataclass

from headway.documents.edits import Edit
from headway.documents.xml_tokens import XmlToken, find_attributes


@dataclass
class Language:
    """The languages of a translation.

    Attributes:
        source: Language code of the text; if it is not known, that of the first text that names one.
        target: Language code of the translation; "": nothing is changed.
    """

    source: str
    target: str

    def edit(self, token: XmlToken, attribute: str) -> list[Edit]:
        """Return the edits that name the new language in a tag.

        Args:
            token: The tag.
            attribute: The attribute with a language; ``fo:language`` goes with ``fo:country``.
        """
        spans = find_attributes(token.source) if attribute in token.source else {}
        if attribute not in spans or not self.replaces(_value(token, spans[attribute])):
            return []
        values = {attribute: self.target}
        if attribute == "fo:language":
            language, _, country = self.target.replace("_", "-").partition("-")
            values = {attribute: language}
            if "fo:country" in spans:
                values["fo:country"] = country if len(country) == 2 else "none"
        return [
            Edit(token.start + spans[name][0], token.start + spans[name][1], f'"{value}"')
            for name, value in values.items()
            if _value(token, spans[name]) != value
        ]

    def replaces(self, code: str) -> bool:
        """Return whether a language code is that of the text, and another one takes its place."""
        if not self.target or not code or code == "none":
            return False
        self.source = self.source or code
        primary = [each.replace("_", "-").partition("-")[0].lower() for each in (code, self.source, self.target)]  # fmt: skip
        return primary[0] == primary[1] and primary[0] != primary[2]


def _value(token: XmlToken, span: tuple[int, int]) -> str:
    return token.source[span[0] + 1 : span[1] - 1]
