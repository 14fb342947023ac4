"""Attributes of HTML that a reader sees, and those that name the language."""

import html
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from headway.documents.edits import Edit, apply_edits
from headway.documents.html.parsing import scan
from headway.documents.html.tokens import Token, tokenize
from headway.documents.languages import Language
from headway.documents.paragraph import Paragraph, Translated
from headway.text.languages import is_translatable

SEEN = frozenset({
    "abbr", "alt", "aria-description", "aria-label", "aria-placeholder", "aria-roledescription",
    "aria-valuetext", "label", "placeholder", "summary", "title",
})  # fmt: skip
BUTTONS = frozenset({"button", "reset", "submit"})
METADATA = frozenset({
    "description", "keywords", "og:description", "og:image:alt", "og:title", "twitter:description",
    "twitter:image:alt", "twitter:title",
})  # fmt: skip
LANGUAGES = ("lang", "xml:lang")


class Attribute(NamedTuple):
    """An attribute.

    Attributes:
        start: Where its value starts in the document.
        end: Where its value ends.
        value: What the value means.
        is_language: Whether the value is a language code.
    """

    start: int
    end: int
    value: str
    is_language: bool = False


def find_attributes(source: str) -> list[Attribute]:
    """Return the attributes with text or a language code, but not those of untranslated elements."""
    found: list[Attribute] = []
    at = 0
    for kind, tokens in scan(source):
        if kind in ("open", "void", "block"):
            for name in _find_names(tokens[0]):
                start, end = tokens[0].spans[name]
                value = html.unescape(tokens[0].attributes[name])
                is_language = name in LANGUAGES
                if is_translatable(value):
                    found.append(Attribute(at + start, at + end, value, is_language))
        at += sum(len(token.text) for token in tokens)
    return sorted(found)


def find_language(source: str) -> str:
    """Return the language code of a whole document; "" if it names none."""
    for token in tokenize(source):
        if token.kind == "open" and token.name == "html":
            codes = [token.attributes.get(name, "") for name in LANGUAGES]
            return next(filter(None, codes), "")
    return ""


def _find_names(token: Token) -> Iterator[str]:
    """Yield the names of the attributes of a tag that hold text or a language code."""
    attributes = token.attributes
    for name in attributes:
        is_button = name == "value" and attributes.get("type", "").lower() in BUTTONS
        kind = attributes.get("name") or attributes.get("property") or ""
        is_metadata = name == "content" and token.name == "meta" and kind.lower() in METADATA
        if name in SEEN or name in LANGUAGES or is_button or is_metadata:
            yield name


def make_paragraphs(attributes: Sequence[Attribute]) -> list[Paragraph[None]]:
    """Return the texts of attributes."""
    return [Paragraph(each.value) for each in attributes if not each.is_language]


def replace_attributes(
    source: str,
    attributes: Sequence[Attribute],
    translations: Sequence[Translated],
    language: Language,
) -> str:
    """Return a document with translated attributes.

    Args:
        source: The document.
        attributes: From `find_attributes`.
        translations: One for each text of them.
        language: The languages of the translation.
    """
    found = iter(translations)
    edits = []
    for attribute in attributes:
        if attribute.is_language:
            is_replaced = language.replaces(attribute.value)
            value = language.target if is_replaced else attribute.value
        else:
            value = next(found).text
        if value == attribute.value:
            continue
        written = _quote(value, source[attribute.start - 1])
        edits.append(Edit(attribute.start, attribute.end, written))
    return apply_edits(source, edits)


def _quote(value: str, before: str) -> str:
    """Return the source of a value; ``before`` is the character before the old one."""
    escaped = html.escape(value, quote=False)
    if before == "'":
        return escaped.replace("'", "&#39;")
    escaped = escaped.replace('"', "&quot;")
    return escaped if before == '"' else f'"{escaped}"'
