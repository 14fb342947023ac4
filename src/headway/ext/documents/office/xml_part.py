"""The XML files inside an office file: their texts are replaced in the tree of XML."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from lxml.etree import iterwalk

from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.office.grammar import Grammar
from headway.ext.documents.office.language_attributes import change_languages
from headway.ext.documents.office.package import Package
from headway.ext.documents.office.places import Place
from headway.ext.documents.office.xml_tree import (
    Node,
    clean_text,
    local_name,
    name_element,
    write_xml,
)
from headway.ext.documents.paragraph import Paragraph, Translated
from headway.text import is_translatable

_UNLIMITED = 1 << 30


class XmlPart:
    """A part of a package.

    Args:
        package: The package.
        name: The name of the part.
        grammar: Where its text stands.
        language: The languages of the translation.
        keeps: Whether a text stays.

    Raises:
        HeadwayError: If the part is not well-formed, has a document type, or nests elements too deeply.
    """

    def __init__(
        self,
        package: Package,
        name: str,
        grammar: Grammar,
        language: LanguagePair,
        keeps: Callable[[str], bool] = lambda text: False,
    ) -> None:
        self._root = package.parse(name, may_have_type=grammar.may_have_type)
        self._is_changed = change_languages(self._root, grammar, language)
        if language.directions and grammar.turn:
            self._is_changed |= grammar.turn(self._root, language.directions)
        if grammar.prepare:
            grammar.prepare(self._root)
        found = ((place, place.paragraphs) for place in _read_places(self._root, grammar))
        self._places = [place for place, texts in found if texts and not keeps(texts[0].text)]

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """The texts of the part, in their order."""
        return [paragraph for place in self._places for paragraph in place.paragraphs]

    def write(self, translations: Sequence[Translated]) -> bytes | None:
        """Return the part with its texts replaced; None: nothing changes."""
        left, is_changed = iter(translations), self._is_changed
        own = [[*islice(left, len(place.paragraphs))] for place in self._places]
        # Attributes in a paragraph are written before the paragraph, which takes them with it.
        for place, found in zip(reversed(self._places), reversed(own), strict=True):
            texts = [translated.text for translated in found]
            is_short = max(map(len, texts)) <= place.limit
            if is_short and texts != [paragraph.text for paragraph in place.paragraphs]:
                place.write(found)
                is_changed = True
        return write_xml(self._root) if is_changed else None


def _read_places(root: Node, grammar: Grammar) -> Iterator[Place]:
    """Yield the texts of a part in their order."""
    plain = {re.split("[/:]", name)[-1] for name in grammar.plain}
    names = {*grammar.paragraphs, *grammar.attributes, *grammar.skipped, *plain}
    walker = iterwalk(root, events=("start",), tag=[f"{{*}}{name}" for name in names])
    for _, node in walker if names else ():
        name = local_name(node)
        is_skipped = grammar.skipped.get(name)
        if is_skipped and is_skipped(node):
            walker.skip_subtree()
            for each in grammar.resumed:
                for resumed in node.iter(f"{{*}}{each}"):
                    yield from _read_places(resumed, grammar)
            continue
        if name in grammar.attributes:
            yield from _read_attributes(node, name, grammar)
        if name in plain and not grammar.plain.isdisjoint(name_element(node)):
            yield from _read_plain(node)
        if read := grammar.paragraphs.get(name):
            place = read(node)
            place.limit = grammar.limits.get(name, _UNLIMITED)
            yield place


def _read_plain(node: Node) -> Iterator[Place]:
    """Yield the content of an element, which may stand behind elements without content, such as choices."""
    if any(len(child) or child.text or not local_name(child) for child in node):
        return
    text = (node[-1].tail if len(node) else node.text) or ""

    def write(translations: Sequence[Translated]) -> None:
        new = clean_text(translations[0].text)
        if len(node):
            node[-1].tail = new
        else:
            node.text = new

    if is_translatable(text):
        yield Place([Paragraph(text)], write)


def _read_attributes(node: Node, name: str, grammar: Grammar) -> Iterator[Place]:
    """Yield the attributes of an element that are texts."""
    for key, text in node.items():
        own = key.rpartition("}")[2]
        if own in grammar.attributes[name] and is_translatable(text):
            limit = grammar.limits.get(f"{name}/{own}", _UNLIMITED)

            def write(translations: Sequence[Translated], key: str = key) -> None:
                node.set(key, clean_text(translations[0].text))

            yield Place([Paragraph(text)], write, limit)
