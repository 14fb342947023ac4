"""Attributes of office files that name the language of their text."""

from headway.documents.edits import Edit
from headway.documents.languages import Language
from headway.documents.xml_tokens import XmlToken, find_attributes


def edit_language(token: XmlToken, attribute: str, language: Language) -> list[Edit]:
    """Return the edits that name the new language in a tag.

    Args:
        token: The tag.
        attribute: The attribute with a language; ``fo:language`` goes with ``fo:country``.
        language: The languages of the translation.
    """
    spans = find_attributes(token.source) if attribute in token.source else {}
    if attribute not in spans or not language.replaces(_value(token, spans[attribute])):
        return []
    values = {attribute: language.target}
    if attribute == "fo:language":
        code, _, country = language.target.replace("_", "-").partition("-")
        values = {attribute: code}
        if "fo:country" in spans:
            values["fo:country"] = country if len(country) == 2 else "none"
    return [
        Edit(token.start + spans[name][0], token.start + spans[name][1], f'"{value}"')
        for name, value in values.items()
        if _value(token, spans[name]) != value
    ]


def _value(token: XmlToken, span: tuple[int, int]) -> str:
    return token.source[span[0] + 1 : span[1] - 1]
