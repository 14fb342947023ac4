"""The XML files inside an office file: their texts are replaced in the tree of XML."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lxml.etree import iterwalk

from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.office.dialects import Dialect
from headway.ext.documents.office.directions import Turn
from headway.ext.documents.office.package import Package
from headway.ext.documents.office.xml_paragraphs import UNLIMITED, Place, read_paragraph
from headway.ext.documents.office.xml_tree import (
    Node,
    clean_text,
    find_key,
    local_name,
    name_element,
)
from headway.ext.documents.paragraph import Paragraph, Translated


@dataclass(frozen=True)
class Grammar:
    """Where the text of a part stands. Names are without prefixes, if nothing else is said.

    Attributes:
        paragraphs: How paragraphs are written, by the names of their elements.
        plain: Elements whose content is a text, with the element around them or the prefix: ``pt/v``, ``svg:desc``.
        attributes: Names of attributes with text, by the names of elements.
        skipped: Whether the text in an element stays, by the names of elements.
        resumed: Elements in such an element whose text does not stay.
        languages: Attributes that name a language, by the names of elements; "*": of any element.
        codes: Elements whose content is a language code, as in `plain`.
        prepare: Changes the tree before it is read.
        turn: Turns the text into the other direction.
        limits: The most characters of paragraphs (by their elements) and attributes (``element/attribute``); a text
            whose translation would have more stays.
    """

    paragraphs: Mapping[str, Dialect] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    skipped: Mapping[str, Callable[[Node], bool]] = field(default_factory=dict)
    resumed: frozenset[str] = frozenset()
    languages: Mapping[str, str] = field(default_factory=dict)
    codes: frozenset[str] = frozenset()
    prepare: Callable[[Node], None] | None = None
    turn: Turn | None = None
    limits: Mapping[str, int] = field(default_factory=dict)


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
    """Name the new language in an attribute of an element, and its country in another; return whether anything has changed."""
    key, country_key = find_key(node, attribute), find_key(node, "country")
    if not key or not language.replaces(node.get(key)):
        return False
    code, _, country = language.target.replace("_", "-").partition("-")
    node.set(key, code if country_key else language.target)
    if country_key:
        node.set(country_key, country if len(country) == 2 else "none")
    return True


class XmlPart:
    """A part of a package.

    Args:
        package: The package.
        name: The name of the part.
        grammar: Where its text stands.
        language: The languages of the translation.
        keeps: Whether a text stays.

    Raises:
        HeadwayError: If the part is not well-formed, declares entities, or nests elements too deeply.
    """

    def __init__(
        self,
        package: Package,
        name: str,
        grammar: Grammar,
        language: LanguagePair,
        keeps: Callable[[str], bool] = lambda text: False,
    ) -> None:
        self._root = package.parse(name)
        self._is_changed = change_languages(self._root, grammar, language)
        if language.becomes_rtl is not None and grammar.turn:
            self._is_changed |= grammar.turn(self._root, language.becomes_rtl)
        if grammar.prepare:
            grammar.prepare(self._root)
        self._places = [
            place
            for place in _read_places(self._root, grammar)
            if place.has_words and not keeps(place.paragraph.text)
        ]

    @property
    def paragraphs(self) -> Sequence[Paragraph]:
        """The texts of the part, in their order."""
        return [place.paragraph for place in self._places]

    def write(self, translations: Sequence[Translated]) -> Node | None:
        """Return the tree of the part with its texts replaced; None: nothing changes."""
        is_changed = self._is_changed
        # Attributes in a paragraph are written before the paragraph, which takes them with it.
        for place, translated in zip(reversed(self._places), reversed(translations), strict=True):
            text = translated.text
            if len(text) <= place.limit and text != place.paragraph.text:
                place.write(place, translated)
                is_changed = True
        return self._root if is_changed else None


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
        if name in plain and not len(node) and not grammar.plain.isdisjoint(name_element(node)):
            yield Place(node, Paragraph(node.text or ""), _write_content)
        if dialect := grammar.paragraphs.get(name):
            yield read_paragraph(dialect, node, grammar.limits.get(name, UNLIMITED))


def _write_content(place: Place, translated: Translated) -> None:
    """Write the content of an element."""
    place.node.text = clean_text(translated.text)


def _read_attributes(node: Node, name: str, grammar: Grammar) -> Iterator[Place]:
    """Yield the attributes of an element that are texts."""
    for key, text in node.items():
        own = key.rpartition("}")[2]
        if own in grammar.attributes[name]:
            limit = grammar.limits.get(f"{name}/{own}", UNLIMITED)
            yield Place(node, Paragraph(text), _write_attribute, key, limit)


def _write_attribute(place: Place, translated: Translated) -> None:
    """Write a translation into the attribute of an element that `Place.detail` names."""
    place.node.set(place.detail, clean_text(translated.text))
