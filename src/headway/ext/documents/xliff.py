"""Translation files (.xlf, .xliff) in XLIFF 1.2 and 2.x."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from headway.errors import HeadwayError
from headway.ext.documents.blocks import Block, make_translatable_nodes
from headway.ext.documents.html.html_page import write_nodes
from headway.ext.documents.language_codes import check_catalog, names_language
from headway.ext.documents.paragraph import DocumentOptions, Translated
from headway.ext.documents.text_file import Edit, apply_edits, read_text_file
from headway.ext.documents.xliff_inline import make_parts
from headway.ext.documents.xml_tokens import (
    XmlToken,
    find_ends,
    read_text,
    remove_attribute,
    set_attribute,
    tokenize_xml,
)

_ENCODING = re.compile(rb"""<\?xml[^>]*?\bencoding\s*=\s*["']([\w.:-]+)""")
_SPACE = "xml:space"
# States of a target that is no translation yet.
_UNTRANSLATED = {"new", "needs-translation", "needs-l10n", "needs-adaptation", "initial"}


@dataclass
class _Unit:
    """A text with the place of its translation.

    Attributes:
        holder: The tag that holds both: ``trans-unit`` or ``segment``.
        source: The tokens of the text, with its tags.
        keeps_lines: Whether line breaks are text.
        codes: Code of the original format (``originalData``), by its names.
        segments: The tokens of the same text divided into segments (``seg-source``), with its tags.
        target: The tokens of the translation, with its tags.
        nodes: What the new translation consists of: markup, translated segments, and the texts to translate.
    """

    holder: XmlToken
    source: list[XmlToken]
    keeps_lines: bool
    codes: Mapping[str, str]
    segments: list[XmlToken] = field(default_factory=list)
    target: list[XmlToken] = field(default_factory=list)
    nodes: list[str | Block] = field(default_factory=list)

    @property
    def blocks(self) -> list[Block]:
        """The texts to translate."""
        return [node for node in self.nodes if isinstance(node, Block)]

    def divide(self, tokens: Sequence[XmlToken]) -> list[str | Block]:
        """Return the texts to translate between breaks; what has no words stays as it is."""
        return make_translatable_nodes(make_parts(tokens, self.keeps_lines, self.codes))


class XliffDocument:
    """A translation file: texts without a translation are translated.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is no XLIFF.
    """

    def __init__(self, data: bytes, options: DocumentOptions) -> None:
        declared = _ENCODING.search(data[:200])
        name = declared[1].decode() if declared else ""
        self._file, self._language = read_text_file(data, options.source, name), options.target
        tokens = tokenize_xml(self._file.text)
        root = next(token for token in tokens if token.kind in ("open", "empty"))
        version = root.attributes.get("version", "")
        if root.name != "xliff" or version[:2] not in ("1.", "2."):
            raise HeadwayError("is no XLIFF 1 or 2: it has no element xliff with such a version")
        self._is_first_version = version.startswith("1.")
        own, self._attribute = (
            ("source-language", "target-language")
            if self._is_first_version
            else ("srcLang", "trgLang")
        )
        self._heads = [
            token
            for token in tokens
            if token.kind == "open"
            and token.name == ("file" if self._is_first_version else "xliff")
        ]
        for head in self._heads:
            check_catalog("texts in", head.attributes.get(own, ""), options.source)
            if not options.is_complete:
                code = head.attributes.get(self._attribute, "")
                check_catalog("translations into", code, options.target)
        self._units = _read_units(tokens)
        for unit in self._units:
            unit.nodes = _make_nodes(unit, options.is_complete)

    @property
    def paragraphs(self) -> Sequence[Block]:
        """The texts that have no translation."""
        return [block for unit in self._units for block in unit.blocks]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with translations of its texts."""
        edits, left = self._edit_heads(), iter(translations)
        for unit in self._units:
            found = [*islice(left, len(unit.blocks))]
            if found and not any(translated.is_missing for translated in found):
                edits += self._edit_unit(unit, write_nodes(unit.nodes, found))
        return self._file.encode_markup(apply_edits(self._file.text, edits))

    def _edit_heads(self) -> list[Edit]:
        """Return the edits that name the target language."""
        edits = []
        for head in self._heads:
            known = head.attributes.get(self._attribute, "")
            if self._language and not names_language(known, self._language):
                tag = set_attribute(head.source, self._attribute, self._language)
                edits.append(Edit(head.start, head.end, tag))
        return edits

    def _edit_unit(self, unit: _Unit, translation: str) -> list[Edit]:
        """Return the edits that write a translation and its state."""
        name = f"{unit.source[0].prefix}target"
        opening = unit.target[0].source if unit.target else f"<{name}>"
        opening = _open(opening)
        if space := unit.source[0].attributes.get(_SPACE):
            opening = set_attribute(opening, _SPACE, space)
        edits = []
        # What describes the state closer belongs to the old translation.
        if self._is_first_version:
            opening = remove_attribute(opening, "state-qualifier")
            opening = set_attribute(opening, "state", "translated")
        else:
            holder = remove_attribute(unit.holder.source, "subState")
            holder = set_attribute(holder, "state", "translated")
            edits.append(Edit(unit.holder.start, unit.holder.end, holder))
        element = f"{opening}{translation}</{name}>"
        if unit.target:
            edits.append(Edit(unit.target[0].start, unit.target[-1].end, element))
        else:
            text, start = self._file.text, unit.source[0].start
            before = text[text.rfind(">", 0, start) + 1 : start]
            indent = before[len(before.rstrip()) :]
            at = (unit.segments or unit.source)[-1].end
            edits.append(Edit(at, at, indent + element))
        return edits


def _open(tag: str) -> str:
    """Return a tag as one that opens an element; it may be an empty element."""
    return f"{tag[:-2].rstrip()}>" if tag.endswith("/>") else tag


def _make_nodes(unit: _Unit, is_complete: bool) -> list[str | Block]:
    """Return what the translation of a unit consists of.

    Args:
        unit: The text.
        is_complete: Whether what has a translation is translated again.
    """
    is_done = not is_complete and _is_translated(unit)
    sources, targets = _find_segments(unit.segments), _find_segments(unit.target)
    if not sources or (is_done and not targets):
        source = _without_segments(unit.source[1:-1])
        return [] if is_done else unit.divide(source)
    whole = unit.target if sources.keys() <= targets.keys() else unit.segments
    nodes: list[str | Block] = []
    at = 1
    for number, (start, end) in _find_segments(whole).items():
        own = slice(*targets.get(number, (0, 0)))
        translation = unit.target[own][1:-1]
        nodes.append(_join(whole[at:start]) + _open(whole[start].source))
        if number not in sources or (is_done and read_text(translation).strip()):
            nodes.append(_join(translation))
        else:
            source = unit.segments[slice(*sources[number])]
            nodes += unit.divide(source[1:-1])
        nodes.append(f"</{whole[start].prefix}mrk>")
        at = end
    return [*nodes, _join(whole[at:-1])]


def _find_segments(tokens: Sequence[XmlToken]) -> dict[str, tuple[int, int]]:
    """Return where the segments of a text begin and end, by their ids."""
    found: dict[str, tuple[int, int]] = {}
    at, ends = 0, find_ends(tokens)
    while at < len(tokens):
        if _is_segment(tokens[at]):
            found[tokens[at].attributes.get("mid", "")] = at, ends[at]
            at = ends[at]  # what stands in a segment is none
        else:
            at += 1
    return found


def _without_segments(tokens: Sequence[XmlToken]) -> list[XmlToken]:
    """Return tokens without the marks of segments, which a target may have only beside a ``seg-source``."""
    ends = find_ends(tokens)
    marks = [number for number, token in enumerate(tokens) if _is_segment(token)]
    dropped = {number for start in marks for number in (start, ends[start] - 1)}
    return [token for number, token in enumerate(tokens) if number not in dropped]


def _is_segment(token: XmlToken) -> bool:
    return (
        token.kind in ("open", "empty")
        and token.name == "mrk"
        and token.attributes.get("mtype") == "seg"
    )


def _join(tokens: Sequence[XmlToken]) -> str:
    return "".join(token.source for token in tokens)


def _is_translated(unit: _Unit) -> bool:
    if not read_text(unit.target).strip():
        return False
    states = unit.target[0].attributes.get("state"), unit.holder.attributes.get("state")
    return not any(state in _UNTRANSLATED for state in states)


def _read_units(tokens: Sequence[XmlToken]) -> list[_Unit]:
    """Return the texts that may be translated; those of other translations (alt-trans) are none."""
    units: list[_Unit] = []
    path: list[XmlToken] = []
    translate, spaces = [True], ["default"]
    codes: dict[str, str] = {}
    at, ends = 0, find_ends(tokens)
    while at < len(tokens):
        token = tokens[at]
        holder = path[-1] if path else None
        is_child = holder is not None and holder.name in ("trans-unit", "segment")
        if (
            token.kind in ("open", "empty")
            and is_child
            and token.name in ("source", "seg-source", "target")
        ):
            element = list(tokens[at : ends[at]])
            assert holder is not None
            if token.name == "source" and translate[-1]:
                keeps_lines = token.attributes.get(_SPACE, spaces[-1]) == "preserve"
                units.append(_Unit(holder, element, keeps_lines, codes))
            elif units and units[-1].holder is holder and token.name == "target":
                units[-1].target = element
            elif units and units[-1].holder is holder:
                units[-1].segments = element
            at = ends[at]
            continue
        if token.name == "data" and token.kind == "open":
            codes[token.attributes.get("id", "")] = read_text(tokens[at : ends[at]])
            at = ends[at]
            continue
        if token.kind == "open":
            path.append(token)
            if token.name == "unit":
                codes = {}
            own = token.attributes.get("translate")
            translate.append(translate[-1] if own is None else own != "no")
            spaces.append(token.attributes.get(_SPACE, spaces[-1]))
        elif token.kind == "close":
            path.pop()
            translate.pop()
            spaces.pop()
        at += 1
    return units
