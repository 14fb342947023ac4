"""Attributes and elements of office files that name the language of their text."""

import re

from headway.ext.documents.language_codes import LanguagePair, find_script_group
from headway.ext.documents.office.grammar import Grammar
from headway.ext.documents.office.xml_tree import Node, find_attribute, find_key, name_element

# For each group of scripts: the attribute that names the language, and the one that names the country, or "". Word and
# OpenDocument have others for the scripts of Asia, and for those that are written from right to left or whose letters
# change with their neighbors.
_NAMES = {
    "val": {"western": ("val", ""), "asian": ("eastAsia", ""), "complex": ("bidi", "")},
    "language": {
        "western": ("language", "country"),
        "asian": ("language-asian", "country-asian"),
        "complex": ("language-complex", "country-complex"),
    },
}


def change_languages(root: Node, grammar: Grammar, language: LanguagePair) -> bool:
    """Name the new language in a part, and return whether anything has changed."""
    is_changed = False
    for element, attribute in grammar.languages.items():
        nodes = root.iter(f"{{*}}{element}") if element != "*" else root.xpath(f"//*[@{attribute}]")
        for node in nodes:
            is_changed |= _change(node, attribute, language)
    for code in grammar.codes:
        for node in root.iter(f"{{*}}{re.split('[/:]', code)[-1]}"):
            if code in name_element(node) and language.replaces((node.text or "").strip()):
                node.text, is_changed = language.target, True
    return is_changed


def _change(node: Node, attribute: str, language: LanguagePair) -> bool:
    """Name the new language in the attributes of an element, and return whether one has changed."""
    groups = _NAMES.get(attribute, {"western": (attribute, "")})
    own, _ = groups.get(find_script_group(language.source), (attribute, ""))
    if not language.replaces(find_attribute(node, own) or find_attribute(node, attribute)):
        return False
    values = {}
    for group in ("western", find_script_group(language.target)):
        name, country_name = groups.get(group, ("", ""))
        code, _, country = language.target.replace("_", "-").partition("-")
        values[name] = code if country_name else language.target
        values[country_name] = country if len(country) == 2 else "none"
    changed = {
        name: new for name, new in values.items() if find_attribute(node, name) not in ("", new)
    }
    for name, new in changed.items():
        node.set(find_key(node, name), new)
    return bool(changed)
