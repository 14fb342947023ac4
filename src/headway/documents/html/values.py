"""Texts of HTML that are no part of a paragraph: attributes and texts of drawings; and language codes."""

import html
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from headway.documents.edits import Edit, apply_edits
from headway.documents.html.attributes import LANGUAGES, find_names
from headway.documents.html.drawings import find_seen
from headway.documents.html.elements import EMBEDDED, is_untranslated
from headway.documents.html.parsing import decode_text, scan
from headway.documents.html.tokens import Token, tokenize
from headway.documents.languages import Language
from headway.documents.paragraph import Paragraph, Translated
from headway.text.languages import is_translatable


class Value(NamedTuple):
    """A text that is no part of a paragraph, or a language code.

    Attributes:
        start: Where it starts in the document.
        end: Where it ends.
        text: What it means.
        kind: A text in an attribute, a language code in an attribute, or a text between tags.
    """

    start: int
    end: int
    text: str
    kind: Literal["attribute", "language", "text"]


def find_values(source: str) -> list[Value]:
    """Return the values of a document, but not those of untranslated elements."""
    found: list[Value] = []
    at = 0
    for kind, tokens in scan(source):
        starts = [*accumulate((len(token.text) for token in tokens), initial=at)]
        for number in _find_seen(kind, tokens):
            found += _read(tokens[number], starts[number])
        at = starts[-1]
    return sorted(value for value in found if is_translatable(value.text))


def _find_seen(kind: str, tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the numbers of the tokens of a part of HTML that have values."""
    name = tokens[0].name
    if is_untranslated(tokens[0]):
        return
    if kind == "kept" and name == "svg":
        yield from find_seen(tokens)
    elif kind in ("open", "void", "block") or (kind == "kept" and name in EMBEDDED):
        yield 0


def _read(token: Token, at: int) -> Iterator[Value]:
    """Yield the values of a token.

    Args:
        token: A text or a tag.
        at: Where it starts in the document.
    """
    if token.kind == "text":
        yield Value(at, at + len(token.text), decode_text(token.text), "text")
    for name in find_names(token):
        start, end = token.spans[name]
        text = html.unescape(token.attributes[name])
        yield Value(at + start, at + end, text, "language" if name in LANGUAGES else "attribute")


def find_language(source: str) -> str:
    """Return the language code of a whole document; "" if it names none."""
    for token in tokenize(source):
        if token.kind == "open" and token.name == "html":
            codes = [token.attributes.get(name, "") for name in LANGUAGES]
            return next(filter(None, codes), "")
    return ""


def make_paragraphs(values: Sequence[Value]) -> list[Paragraph[None]]:
    """Return the texts among values."""
    return [Paragraph(each.text) for each in values if each.kind != "language"]


def replace_values(
    source: str, values: Sequence[Value], translations: Sequence[Translated], language: Language
) -> str:
    """Return a document with translated values.

    Args:
        source: The document.
        values: From `find_values`.
        translations: One for each text among them.
        language: The languages of the translation.
    """
    found = iter(translations)
    edits = []
    for value in values:
        if value.kind == "language":
            text = language.target if language.replaces(value.text) else value.text
        else:
            text = next(found).text
        if text != value.text:
            is_text = value.kind == "text"
            escaped = html.escape(text, quote=False)
            written = escaped if is_text else _quote(escaped, source[value.start - 1])
            edits.append(Edit(value.start, value.end, written))
    return apply_edits(source, edits)


def _quote(escaped: str, before: str) -> str:
    """Return the source of an attribute's value; ``before`` is the character before the old one."""
    if before == "'":
        return escaped.replace("'", "&#39;")
    escaped = escaped.replace('"', "&quot;")
    return escaped if before == '"' else f'"{escaped}"'
