"""Finds the texts of a part in the stream of its tokens."""

import html
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from headway.errors import HeadwayError
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.office.content_reader import ContentReader
from headway.ext.documents.office.grammar import Grammar
from headway.ext.documents.office.inline import InlineParagraph, Render
from headway.ext.documents.office.language_attributes import edit_language
from headway.ext.documents.paragraph import Paragraph, Translated, walk
from headway.ext.documents.text_file import Edit
from headway.ext.documents.xml_tokens import XmlToken, escape_text, find_attributes, iterate_xml
from headway.text import is_translatable

_MOST_DEPTH = 200  # elements in each other


@dataclass
class Place:
    """A text of a part, and where it stands.

    Attributes:
        start: Where its source starts.
        end: Where its source ends.
        paragraph: The text.
        write: Returns the source of its translation.
    """

    start: int
    end: int
    paragraph: Paragraph[Any]
    write: Callable[[Translated, Render], str]


def read_places(source: str, grammar: Grammar, language: LanguagePair) -> tuple[list[Place], list[Edit]]:  # fmt: skip
    """Return the texts of a part in their order, and the edits that name its language.

    Raises:
        HeadwayError: If the part is not well-formed, has a document type, or nests elements too deeply.
    """
    reader = _PartReader(source, grammar, language)
    for token in iterate_xml(source):
        reader.feed(token)
    reader.places.sort(key=lambda place: (place.start, -place.end))
    return reader.places, reader.edits


class _PartReader:
    """Reads the tokens of a part."""

    def __init__(self, source: str, grammar: Grammar, language: LanguagePair) -> None:
        self.places: list[Place] = []
        self.edits: list[Edit] = []
        self._source, self._grammar, self._language = source, grammar, language
        directions, make_direction = language.directions, grammar.make_direction
        self._direction = make_direction(directions) if directions and make_direction else None
        self._path: list[str] = []
        self._skips = [(0, False)]  # depths of elements, and whether the text in them stays
        self._readers: list[tuple[ContentReader, int]] = []
        self._plain_names = {re.split("[/:]", name)[-1] for name in grammar.plain | grammar.codes}
        self._plain = self._code = 0  # where the content of such an element starts; 0: in none

    def feed(self, token: XmlToken) -> None:
        """Read the next token."""
        if self._direction and token.kind in ("open", "empty", "close"):
            self.edits += self._direction.feed(token)
        if token.kind in ("open", "empty"):
            self._open(token)
        elif token.kind == "close":
            self._close(token)
        elif token.kind == "other":
            if token.source.startswith("<!DOCTYPE") and not self._grammar.may_have_type:
                raise HeadwayError("has a document type, which office files have not")
        elif self._readers:
            self._readers[-1][0].feed(token)

    def _open(self, token: XmlToken) -> None:
        around = self._path[-1] if self._path else ""
        is_open = token.kind == "open"
        if is_open:
            self._path.append(token.name)
            if len(self._path) > _MOST_DEPTH:
                raise HeadwayError(f"nests more than {_MOST_DEPTH} elements")
        languages = self._grammar.languages
        if attribute := languages.get(token.name) or languages.get("*"):
            self.edits += edit_language(token, attribute, self._language)
        if self._plain and not is_open:
            self._plain = token.end  # the text of a list stands behind its choices
        is_skipped = self._skips[-1][1]
        if is_open and is_skipped and token.name in self._grammar.resumed:
            self._skips.append((len(self._path), False))
        elif is_open and not is_skipped and self._grammar.is_skipped(token, self._source):
            self._skips.append((len(self._path), True))
        if not self._skips[-1][1]:
            self._read_attributes(token)
            if is_open and token.name in self._plain_names:
                names = {f"{around}/{token.name}", f"{token.prefix}{token.name}"}
                self._plain = token.end if names & self._grammar.plain else 0
                self._code = token.end if names & self._grammar.codes else 0
            make_reader = self._grammar.paragraphs.get(token.name)
            if is_open and make_reader and (not self._readers or self._readers[-1][0].is_inside):
                self._readers.append((make_reader(token, self._source), len(self._path)))
                return
        if self._readers:
            self._readers[-1][0].feed(token)

    def _close(self, token: XmlToken) -> None:
        depth = len(self._path)
        self._path.pop()
        if self._skips[-1][0] == depth:
            self._skips.pop()
        if self._plain:
            self._add_plain(self._plain, token.start)
        if self._code and self._language.replaces(self._source[self._code : token.start].strip()):
            self.edits.append(Edit(self._code, token.start, self._language.target))
        self._plain = self._code = 0
        if self._readers and self._readers[-1][1] == depth:
            reader, _ = self._readers.pop()
            paragraph = reader.finish(token)
            if is_translatable(_find_free_text(paragraph)):
                limit = self._grammar.limits.get(token.name, sys.maxsize)
                write = partial(_write_paragraph, reader, paragraph, limit)
                self.places.append(Place(reader.start, reader.end, paragraph, write))
        elif self._readers:
            self._readers[-1][0].feed(token)

    def _add_plain(self, start: int, end: int) -> None:
        text = html.unescape(self._source[start:end])
        if "<" not in self._source[start:end] and is_translatable(text):
            self.places.append(Place(start, end, Paragraph(text), _write_plain))

    def _read_attributes(self, token: XmlToken) -> None:
        names = self._grammar.attributes.get(token.name, ())
        if not names:
            return
        for name, (start, end) in find_attributes(token.source).items():
            own, local = token.source[start:end], name.rpartition(":")[2]
            text = html.unescape(own[1:-1])
            if local in names and is_translatable(text):
                span = token.start + start, token.start + end
                limit = self._grammar.limits.get(f"{token.name}/{local}", sys.maxsize)
                write = partial(_write_attribute, own, limit)
                self.places.append(Place(*span, Paragraph(text), write))


def _find_free_text(paragraph: Paragraph[Any]) -> str:
    """Return the text of a paragraph without elements whose text is kept."""
    text, at = "", 0
    for element in walk(paragraph.elements):
        if element.is_kept:
            text += paragraph.text[at : element.start]
            at = element.end
    return text + paragraph.text[at:]


def _write_paragraph(
    reader: ContentReader,
    paragraph: InlineParagraph,
    limit: int,
    translated: Translated,
    render: Render,
) -> str:
    """Return the content of a paragraph; one that would be too long stays as it is."""
    if len(translated.text) > limit:
        return render(reader.start, reader.end)
    return reader.write(paragraph, translated, render)


def _write_plain(translated: Translated, render: Render) -> str:
    return escape_text(translated.text)


def _write_attribute(own: str, limit: int, translated: Translated, render: Render) -> str:
    """Return the source of a value, with quotes; one that would be too long stays as it is."""
    if len(translated.text) > limit:
        return own
    written = escape_text(translated.text).replace('"', "&quot;")
    return f'"{written}"'.replace("\n", "&#10;").replace("\t", "&#9;").replace("\r", "&#13;")
