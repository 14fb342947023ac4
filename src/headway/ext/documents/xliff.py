"""Translation files (.xlf, .xliff) in XLIFF 1.2 and 2.x."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from headway.errors import HeadwayError
from headway.ext.documents.blocks import Block, make_translatable_nodes
from headway.ext.documents.edited_file import EditedFile
from headway.ext.documents.html.html_page import write_nodes
from headway.ext.documents.language_codes import check_catalog, names_language
from headway.ext.documents.messages import read_labels
from headway.ext.documents.paragraph import Document, DocumentOptions, Translated
from headway.ext.documents.text_file import Edit, read_text_file
from headway.ext.documents.xliff_inline import make_parts
from headway.ext.documents.xml_tokens import (
    XmlToken,
    find_ends,
    read_text,
    remove_attribute,
    set_attribute,
    tokenize_xml,
)

_ENCODING = re.compile(rb"""<\?xml[^<>]*?\bencoding\s*+=\s*+["']([\w.:-]+)""")
_SPACE = "xml:space"
# States of a target that is no translation yet.
_UNTRANSLATED = {"new", "needs-translation", "needs-l10n", "needs-adaptation", "initial"}
_TRANSLATED = "translated"
# How translations that nobody has read are marked; a state of XLIFF 2 is made closer by one of its program.
_UNREAD_1 = {"state": "needs-review-translation", "state-qualifier": "mt-suggestion"}
_UNREAD_2 = {"state": "initial", "subState": "headway:mt"}
_HOLDERS = ("trans-unit", "segment")
Nodes = list[str | Block]


def read_xliff(data: bytes, options: DocumentOptions) -> Document:
    """Read a translation file: texts without a translation are translated.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is no XLIFF.
    """
    declared = _ENCODING.search(data[:200])
    name = declared[1].decode() if declared else ""
    file = read_text_file(data, options.source, name, is_xml=True)
    tokens = tokenize_xml(file.text)
    root = next(token for token in tokens if token.kind in ("open", "empty"))
    version = root.attributes.get("version", "")
    if root.name != "xliff" or version[:2] not in ("1.", "2."):
        raise HeadwayError("is no XLIFF 1 or 2: it has no element xliff with such a version")
    is_first = version.startswith("1.")
    head, own, other = ("file", "source-language", "target-language") if is_first else ("xliff", "srcLang", "trgLang")  # fmt: skip
    edits = []
    for token in tokens:
        if token.kind == "open" and token.name == head:
            attributes = token.attributes
            known = attributes.get(other, "")
            check_catalog("texts in", attributes.get(own, ""), options.source)
            if not options.is_complete:
                check_catalog("translations into", known, options.target)
            if options.target and not names_language(known, options.target):
                tag = set_attribute(token.source, other, options.target)
                edits.append(Edit(token.start, token.end, tag))
    units = _read_units(tokens, file.text)
    for unit in units:
        unit.nodes = _make_nodes(unit, options.is_complete)
    found = [unit for unit in units if unit.paragraphs]
    return read_labels(EditedFile(file, found, edits), options)


@dataclass
class _Unit:
    """A text with the place of its translation.

    Attributes:
        holder: The tag that holds both: ``trans-unit`` or ``segment``.
        place: What names it.
        source: The tokens of the text, with its tags.
        keeps_lines: Whether line breaks are text.
        codes: Code of the original format (``originalData``), by its names.
        indent: What stands before the text, if that is white space.
        segments: The tokens of the same text divided into segments (``seg-source``), with its tags.
        target: The tokens of the translation, with its tags.
        nodes: What the new translation consists of: markup, translated segments, and the texts to translate.
    """

    holder: XmlToken
    place: str
    source: Sequence[XmlToken]
    keeps_lines: bool
    codes: Mapping[str, str]
    indent: str
    segments: Sequence[XmlToken] = ()
    target: Sequence[XmlToken] = ()
    nodes: Nodes = field(default_factory=list)

    @property
    def start(self) -> int:
        """Where the text starts."""
        return self.source[0].start

    @property
    def paragraphs(self) -> list[Block]:
        """The texts to translate."""
        found = [node for node in self.nodes if isinstance(node, Block)]
        for each in found:
            each.place = self.place
        return found

    @property
    def is_translated(self) -> bool:
        """Whether the target is a translation."""
        if not read_text(self.target).strip():
            return False
        own, holder = self.target[0].attributes, self.holder.attributes
        is_new = not _UNTRANSLATED.isdisjoint({own.get("state"), holder.get("state")})
        return not is_new or _UNREAD_2.items() <= holder.items()

    def divide(self, tokens: Sequence[XmlToken]) -> Nodes:
        """Return the texts to translate between breaks; what has no words stays as it is."""
        return make_translatable_nodes(make_parts(tokens, self.keeps_lines, self.codes))

    def edit(self, translations: Sequence[Translated]) -> Iterator[Edit]:
        """Yield the edits that write a translation and its state."""
        if any(each.is_missing for each in translations):
            return
        is_finished = all(each.is_finished for each in translations)
        name = f"{self.source[0].prefix}target"
        opening = _open(self.target[0].source if self.target else f"<{name}>")
        if space := self.source[0].attributes.get(_SPACE):
            opening = set_attribute(opening, _SPACE, space)
        holder = self.holder.source
        if self.holder.name == "segment":
            holder = _set_state(holder, _UNREAD_2, is_finished)
        else:
            opening = _set_state(opening, _UNREAD_1, is_finished)
            if not is_finished and self.holder.attributes.get("approved") == "yes":
                holder = set_attribute(holder, "approved", "no")
        if holder != self.holder.source:
            yield Edit(self.holder.start, self.holder.end, holder)
        element = f"{opening}{write_nodes(self.nodes, translations)}</{name}>"
        if self.target:
            yield Edit(self.target[0].start, self.target[-1].end, element)
        else:
            at = (self.segments or self.source)[-1].end
            yield Edit(at, at, self.indent + element)


def _set_state(tag: str, unread: Mapping[str, str], is_finished: bool) -> str:
    """Return a tag with the state of a new translation; what describes the state closer belongs to the old one."""
    state, closer = unread
    if is_finished:
        return set_attribute(remove_attribute(tag, closer), state, _TRANSLATED)
    return set_attribute(set_attribute(tag, state, unread[state]), closer, unread[closer])


def _open(tag: str) -> str:
    """Return a tag as one that opens an element; it may be an empty element."""
    return f"{tag[:-2].rstrip()}>" if tag.endswith("/>") else tag


def _make_nodes(unit: _Unit, is_complete: bool) -> Nodes:
    """Return what the translation of a unit consists of.

    Args:
        unit: The text.
        is_complete: Whether what has a translation is translated again.
    """
    is_done = not is_complete and unit.is_translated
    sources, targets = _find_segments(unit.segments), _find_segments(unit.target)
    if not sources or (is_done and not targets):
        return [] if is_done else unit.divide(_without_segments(unit.source[1:-1]))
    whole = unit.target if sources.keys() <= targets.keys() else unit.segments
    nodes, at = Nodes(), 1
    for number, (start, end) in _find_segments(whole).items():
        translation = unit.target[slice(*targets.get(number, (0, 0)))][1:-1]
        nodes.append(_join(whole[at:start]) + _open(whole[start].source))
        if number not in sources or (is_done and read_text(translation).strip()):
            nodes.append(_join(translation))
        else:
            nodes += unit.divide(unit.segments[slice(*sources[number])][1:-1])
        nodes.append(f"</{whole[start].prefix}mrk>")
        at = end
    return [*nodes, _join(whole[at:-1])]


def _find_segments(tokens: Sequence[XmlToken]) -> dict[str, tuple[int, int]]:
    """Return where the segments of a text begin and end, by their ids; what stands in a segment is none."""
    found: dict[str, tuple[int, int]] = {}
    behind = 0
    for at, end in enumerate(find_ends(tokens)):
        if at >= behind and _is_segment(tokens[at]):
            found[tokens[at].attributes.get("mid", "")] = at, end
            behind = end
    return found


def _without_segments(tokens: Sequence[XmlToken]) -> list[XmlToken]:
    """Return tokens without the marks of segments, which a target may have only beside a ``seg-source``."""
    ends = find_ends(tokens)
    marks = [number for number, token in enumerate(tokens) if _is_segment(token)]
    dropped = {number for start in marks for number in (start, ends[start] - 1)}
    return [token for number, token in enumerate(tokens) if number not in dropped]


def _is_segment(token: XmlToken) -> bool:
    is_tag = token.kind in ("open", "empty") and token.name == "mrk"
    return is_tag and token.attributes.get("mtype") == "seg"


def _join(tokens: Sequence[XmlToken]) -> str:
    return "".join(token.source for token in tokens)


def _read_units(tokens: Sequence[XmlToken], text: str) -> list[_Unit]:
    """Return the texts that may be translated; those of other translations (alt-trans) are none."""
    units: list[_Unit] = []
    # The open elements, each with whether its texts are translated, and what its white space means.
    path: list[tuple[XmlToken | None, bool, str]] = [(None, True, "default")]
    codes: dict[str, str] = {}
    at, place, ends = 0, "", find_ends(tokens)
    while at < len(tokens):
        token, (holder, translate, space) = tokens[at], path[-1]
        if token.kind == "close":
            path.pop()
        elif token.kind in ("open", "empty"):
            attributes = token.attributes
            space = attributes.get(_SPACE, space)
            is_text = token.name in ("source", "seg-source", "target")
            if is_text and holder is not None and holder.name in _HOLDERS:
                element = tokens[at : ends[at]]
                is_same = bool(units) and units[-1].holder is holder
                if token.name == "source" and translate:
                    before = text[text.rfind(">", 0, token.start) + 1 : token.start]
                    indent = before[len(before.rstrip()) :]
                    keeps_lines = space == "preserve"
                    units.append(_Unit(holder, place, element, keeps_lines, codes, indent))
                elif is_same and token.name == "target":
                    units[-1].target = element
                elif is_same:
                    units[-1].segments = element
                at = ends[at]
                continue
            if token.name == "data" and token.kind == "open":
                codes[attributes.get("id", "")] = read_text(tokens[at : ends[at]])
                at = ends[at]
                continue
            if token.name in ("unit", "trans-unit"):
                codes, place = {}, f"unit {attributes.get('id', '')}".rstrip()
            if token.kind == "open":
                own = attributes.get("translate")
                path.append((token, translate if own is None else own != "no", space))
        at += 1
    return units
