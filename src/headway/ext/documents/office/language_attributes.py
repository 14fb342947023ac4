"""Attributes of office files that name the language of their text."""

from headway.ext.documents.language_codes import LanguagePair, find_script_group
from headway.ext.documents.text_file import Edit
from headway.ext.documents.xml_tokens import XmlToken, find_attributes

# For each group of scripts: the attribute that names the language, and the one that names the country, or "".
_NAMES = {
    "w:val": {"western": ("w:val", ""), "asian": ("w:eastAsia", ""), "complex": ("w:bidi", "")},
    "fo:language": {
        "western": ("fo:language", "fo:country"),
        "asian": ("style:language-asian", "style:country-asian"),
        "complex": ("style:language-complex", "style:country-complex"),
    },
}


def edit_language(token: XmlToken, attribute: str, language: LanguagePair) -> list[Edit]:
    """Return the edits that name the new language in a tag.

    Args:
        token: The tag.
        attribute: The attribute with a language. Word and OpenDocument have others for the scripts of Asia, and for
            those that are written from right to left or whose letters change with their neighbors.
        language: The languages of the translation.
    """
    groups = _NAMES.get(attribute, {"western": (attribute, "")})
    own, _ = groups.get(find_script_group(language.source), (attribute, ""))
    spans = (
        find_attributes(token.source) if any(n in token.source for n in (own, attribute)) else {}
    )
    named = own if own in spans else attribute
    if named not in spans or not language.replaces(_value(token, spans[named])):
        return []
    values = {}
    for group in ("western", find_script_group(language.target)):
        name, country_name = groups.get(group, ("", ""))
        code, _, country = language.target.replace("_", "-").partition("-")
        values[name] = code if country_name else language.target
        values[country_name] = country if len(country) == 2 else "none"
    return [
        Edit(token.start + spans[name][0], token.start + spans[name][1], f'"{value}"')
        for name, value in values.items()
        if name in spans and _value(token, spans[name]) != value
    ]


def _value(token: XmlToken, span: tuple[int, int]) -> str:
    return token.source[span[0] + 1 : span[1] - 1]
