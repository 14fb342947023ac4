"""Texts of HTML that are no part of a paragraph, such as attributes and texts of drawings; and language codes."""

import html
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from headway.documents.edits import Edit, apply_edits
from headway.documents.html.attributes import find_language_attributes, find_names, is_locale
from headway.documents.html.drawings import find_seen
from headway.documents.html.elements import EMBEDDED, WHOLE, find_code, is_untranslated
from headway.documents.html.parsing import decode_text, scan
from headway.documents.html.templates import TEMPLATE
from headway.documents.html.tokens import Token, tokenize
from headway.documents.languages import Language
from headway.documents.paragraph import Paragraph, Translated
from headway.text.languages import is_translatable

_UNDIRECTED = ("bdo", "svg")  # a direction of its own, and none


class Value(NamedTuple):
    """A text that is no part of a paragraph.

    Attributes:
        start: Where it starts in the document.
        end: Where it ends.
        text: What it means.
        kind: Whether it stands in an attribute or between tags.
    """

    start: int
    end: int
    text: str
    kind: Literal["attribute", "text"]


def find_values(source: str, language: str) -> list[Value]:
    """Return the values of a document, but not those of untranslated elements.

    Args:
        source: The document.
        language: Its language code; "" if it is not known.
    """
    found = (value for token, at in _find_tokens(source, language) for value in _read(token, at))
    return sorted(value for value in found if is_translatable(value.text))


def _find_tokens(source: str, language: str) -> Iterator[tuple[Token, int]]:
    """Yield the tokens that can have values, each with its place in the document."""
    at = 0
    for kind, tokens in scan(source, language):
        starts = [*accumulate((len(token.text) for token in tokens), initial=at)]
        for number in _find_seen(kind, tokens, language):
            yield tokens[number], starts[number]
        at = starts[-1]


def _find_seen(kind: str, tokens: Sequence[Token], language: str) -> Iterator[int]:
    """Yield the numbers of the tokens of a part of HTML that have values."""
    name = tokens[0].name
    if is_untranslated(tokens[0], language):
        return
    if kind == "kept" and name == "svg":
        yield from find_seen(tokens, language)
    elif kind in ("open", "void", "block") or (kind == "kept" and name in EMBEDDED):
        yield 0


def _read(token: Token, at: int) -> Iterator[Value]:
    """Yield the values of a token.

    Args:
        token: A text or a tag.
        at: Where it starts in the document.
    """
    if token.kind == "text":
        yield Value(at, at + len(token.text), decode_text(token), "text")
    for name in find_names(token):
        start, end = token.spans[name]
        text = html.unescape(token.attributes[name])
        yield Value(at + start, at + end, text, "attribute")


def find_language(source: str) -> str:
    """Return the language code of a whole document; "" if it names none."""
    for token in tokenize(source):
        if token.kind == "open" and token.name == "html":
            return find_code(token)
    return ""


def make_paragraphs(values: Sequence[Value]) -> list[Paragraph[None]]:
    """Return the texts of values."""
    return [Paragraph(each.text) for each in values]


def replace_values(source: str, values: Sequence[Value], translations: Sequence[Translated]) -> str:
    """Return a document with translated values.

    Args:
        source: The document.
        values: From `find_values`.
        translations: One for each of them.
    """
    edits = []
    for value, translated in zip(values, translations, strict=True):
        if translated.text != value.text:
            is_text = value.kind == "text"
            escaped = _escape(translated.text, source[value.start : value.end])
            written = escaped if is_text else _quote(escaped, source[value.start - 1])
            edits.append(Edit(value.start, value.end, written))
    return apply_edits(source, edits)


def _escape(text: str, source: str) -> str:
    """Return the source of a translated value; tags of template engines are written as in the source of the value."""
    templates = {html.unescape(found[0]): found[0] for found in TEMPLATE.finditer(source)}
    parts = TEMPLATE.split(text)
    return "".join(templates.get(part) or html.escape(part, quote=False) for part in parts)


def replace_languages(source: str, language: Language) -> str:
    """Return a document with the language codes of its translation, and the direction of its text.

    Args:
        source: The document.
        language: The languages of the translation.
    """
    edits: list[Edit] = []
    for token, at in _find_tokens(source, language.source):
        edits += _edit_direction(token, at, language)
        for name in find_language_attributes(token):
            if language.replaces(html.unescape(token.attributes[name])):
                start, end = token.spans[name]
                code = language.target.replace("-", "_") if is_locale(token) else language.target
                written = _quote(code, token.text[start - 1])
                edits.append(Edit(at + start, at + end, written))
    return apply_edits(source, edits)


def _edit_direction(token: Token, at: int, language: Language) -> Iterator[Edit]:
    """Yield the edit that gives a tag the direction of the translation.

    The whole page gets it, and elements of the text's language. Others get it if they name the direction from right to
    left: the other one may belong to numbers and code.
    """
    if token.kind != "open" or token.name in _UNDIRECTED or not language.directions:
        return
    before, after = language.directions
    names_language = language.replaces(find_code(token))
    is_own = names_language or token.name in WHOLE or before == "rtl"
    span = token.spans.get("dir")
    if span and is_own and token.attributes["dir"].strip().lower() == before:
        start, end = span
        yield Edit(at + start, at + end, _quote(after, token.text[start - 1]))
    elif span is None and (names_language or (token.name == "html" and not find_code(token))):
        place = at + 1 + len(token.name)
        yield Edit(place, place, f' dir="{after}"')


def _quote(escaped: str, before: str) -> str:
    """Return the source of an attribute's value; ``before`` is the character before the old one."""
    if before == "'":
        return escaped.replace("'", "&#39;")
    escaped = escaped.replace('"', "&quot;")
    return escaped if before == '"' else f'"{escaped}"'
