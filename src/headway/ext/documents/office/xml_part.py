"""The XML files inside an office file: their texts are replaced, and all other bytes stay."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.office.grammar import Grammar
from headway.ext.documents.office.package import Package, find_encoding, name_member
from headway.ext.documents.office.part_reader import read_places
from headway.ext.documents.paragraph import Paragraph, Translated


class XmlPart:
    """A part of a package.

    Args:
        package: The package.
        name: The name of the part.
        grammar: Where its text stands.
        language: The languages of the translation.
        keeps: Whether a text stays, by the text and where it starts.

    Raises:
        HeadwayError: If the part is not well-formed, has a document type, or nests elements too deeply.
    """

    def __init__(
        self,
        package: Package,
        name: str,
        grammar: Grammar,
        language: LanguagePair,
        keeps: Callable[[str, int], bool] = lambda text, start: False,
    ) -> None:
        self._package, self._name = package, name
        source = package.read_xml(name)
        with name_member(name):
            places, self._edits = read_places(source, grammar, language)
        self._places = [place for place in places if not keeps(place.paragraph.text, place.start)]

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """The texts of the part, in their order."""
        return [place.paragraph for place in self._places]

    @property
    def starts(self) -> Sequence[int]:
        """Where the source of each text starts in the part."""
        return [place.start for place in self._places]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the part with its texts replaced; unchanged texts keep their source."""
        source = self._package.read_xml(self._name)
        changes = [Change(*edit[:2], partial(str, edit.replacement)) for edit in self._edits]
        for place, translated in zip(self._places, translations, strict=True):
            if translated.text != place.paragraph.text:
                render = partial(_render, source, changes, (place.start, place.end))
                write = partial(place.write, translated, render)
                changes.append(Change(place.start, place.end, write))
        changes.sort(key=lambda change: (change.start, -change.end))
        encoding = find_encoding(self._package.read(self._name))
        return _render(source, changes, None, 0, len(source)).encode(encoding, "replace")


class Change(NamedTuple):
    """What takes the place of a stretch of a part."""

    start: int
    end: int
    write: Callable[[], str]


def _render(
    source: str, changes: Sequence[Change], around: tuple[int, int] | None, start: int, end: int
) -> str:
    """Return a stretch of a part with the changes in it, which are sorted.

    A change inside of another one is left to that one, which renders what it keeps. ``around`` is where the
    change stands that asks for it, and which may have nothing but this stretch.
    """
    out, at = [], start
    for number in range(bisect_left(changes, (start,)), len(changes)):
        change = changes[number]
        if change.start >= end:
            break
        if change.start >= at and change.end <= end and change[:2] != around:
            out += [source[at : change.start], change.write()]
            at = change.end
    return "".join([*out, source[at:end]])
