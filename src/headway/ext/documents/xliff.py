"""Translation files (.xlf, .xliff) in XLIFF 1.2 and 2.x."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from headway.errors import HeadwayError
from headway.ext.documents.edited_file import EditedFile
from headway.ext.documents.html.page import write_page_paragraph
from headway.ext.documents.language_codes import check_catalog, names_language
from headway.ext.documents.marked_text import (
    LINE_BREAK,
    MarkedText,
    Part,
    make_kept,
)
from headway.ext.documents.mnemonics import read_label
from headway.ext.documents.paragraph import Document, DocumentOptions, Paragraph, Translated
from headway.ext.documents.text_file import Edit, read_text_file
from headway.ext.documents.xml_source import XmlNode, parse_source, remove_attribute, set_attribute
from headway.ext.protect import BREAK_TAG, BREAKS, ProtectedText, find_protected_text

# Elements that stand for an opening tag of the original format -> for the closing tag of the same.
_OPENING, _CLOSING = {"bx", "bpt", "sc", "sm"}, {"ex", "ept", "ec", "em"}
_CODE = {"bpt", "ept", "ph", "it", "ut"}  # their content is code of the original format
_ALONE = {"ph", "x"}  # elements that stand for code which may be a placeholder
_BREAK = re.compile(rf"(?:(?:{BREAK_TAG}|\\[nrt])\s*+)++")
_PLACEHOLDERS = ("ICU", "INTERPOLATION")  # how Angular's names of placeholders begin
_WORD = "{}"  # stands for a placeholder in the text


def make_parts(
    nodes: Sequence[XmlNode],
    keeps_lines: bool,
    codes: Mapping[str, str],
    breaks: dict[str, list[bool]] | None = None,
) -> Iterator[Part]:
    """Yield the parts of a text; code, and text that is not for translation, is markup.

    A line break, and a tag of a paragraph, is a break. Marks of segments are left out, because a target may have them
    only beside a ``seg-source``.

    Args:
        nodes: Of the text.
        keeps_lines: Whether line breaks are text; otherwise they are spaces.
        codes: Code of the original format that elements refer to, by its names.
        breaks: Whether the tags that are open are breaks, by what pairs them.
    """
    breaks = {} if breaks is None else breaks
    for node in nodes:
        name, source = node.name, node.source
        if node.is_text:
            is_spaced = node.kind == "text" and not keeps_lines
            text = html.unescape(LINE_BREAK.sub(" ", source)) if is_spaced else node.text
            yield Part("text", source, text)
            continue
        if _is_segment(node):
            yield from make_parts(node.children, keeps_lines, codes, breaks)
            continue
        if name == "mrk" and _is_protected(node):
            yield make_kept(source, node.text)
            continue
        code = (node.text if name in _CODE else "") or _find_code(node, codes)
        is_break = _is_break(node, code)
        if name in _OPENING:
            name = _pair_name(node)
            breaks.setdefault(name, []).append(is_break)
            yield Part("break" if is_break else "open", source, name=name)
        elif name in _CLOSING:
            name = _pair_name(node)
            is_break = (bool(breaks.get(name)) and breaks[name].pop()) or is_break
            yield Part("break" if is_break else "close", source, name=name)
        elif name not in _CODE and node.closing:
            yield Part("break" if is_break else "open", node.tag, name=name)
            yield from make_parts(node.children, keeps_lines, codes, breaks)
            yield Part("break" if is_break else "close", node.closing, name=name)
        elif is_break:
            yield Part("break", source)
        else:
            is_word = name in _ALONE and _is_placeholder(node, code)
            yield make_kept(source, _WORD if is_word else "")


def _is_break(node: XmlNode, code: str) -> bool:
    """Return whether an element stands for a line break or for a tag of a paragraph, as its type or its code say."""
    attributes = node.attributes
    kinds = attributes.get("ctype", ""), attributes.get("subType", "")
    names = {re.split("[:-]", kind)[-1].casefold() for kind in kinds}
    return bool(_BREAK.fullmatch(code.strip())) or not names.isdisjoint({"lb", "pb", *BREAKS})


def _find_code(node: XmlNode, codes: Mapping[str, str]) -> str:
    """Return the code of the original format that an element without content stands for; "" if nothing says it."""
    attributes = node.attributes
    reference = attributes.get("dataRef") or attributes.get("dataRefStart", "")
    shown = (attributes.get(name) for name in ("equiv-text", "disp", "dispStart"))
    return codes.get(reference) or next(filter(None, shown), "")


def _is_placeholder(node: XmlNode, code: str) -> bool:
    """Return whether an element stands for a placeholder, as its name, its type or its code say."""
    attributes = node.attributes
    names = attributes.get("id", ""), attributes.get("equiv", "")
    if any(name.startswith(_PLACEHOLDERS) for name in names):
        return True
    code = code.strip()
    is_variable = attributes.get("subType") == "xlf:var"
    return is_variable or find_protected_text(code) == [ProtectedText(0, len(code), "name")]


def _is_protected(node: XmlNode) -> bool:
    attributes = node.attributes
    return attributes.get("translate") == "no" or attributes.get("mtype") == "protected"


def _pair_name(node: XmlNode) -> str:
    """Return what an opening and its closing element have in common."""
    attributes = node.attributes
    if node.name in ("ec", "em"):
        return f"sc {attributes.get('startRef', '')}"
    if node.name in ("sc", "sm"):
        return f"sc {attributes.get('id', '')}"
    return f"bx {attributes.get('rid') or attributes.get('id', '')}"


_ENCODING = re.compile(rb"""<\?xml[^<>]*?\bencoding\s*+=\s*+["']([\w.:-]+)""")
_SPACE = "xml:space"
# States of a target that is no translation yet.
_UNTRANSLATED = {"new", "needs-translation", "needs-l10n", "needs-adaptation", "initial"}
_TRANSLATED = "translated"
# How translations that nobody has read are marked; a state of XLIFF 2 is made closer by one of its program.
_UNREAD_1 = {"state": "needs-review-translation", "state-qualifier": "mt-suggestion"}
_UNREAD_2 = {"state": "initial", "subState": "headway:mt"}
_HOLDERS = ("trans-unit", "segment")


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
    _, root = parse_source(file.text)
    version = root.attributes.get("version", "")
    if root.name != "xliff" or version[:2] not in ("1.", "2."):
        raise HeadwayError("is no XLIFF 1 or 2: it has no element xliff with such a version")
    is_first = version.startswith("1.")
    head, own, other = ("file", "source-language", "target-language") if is_first else ("xliff", "srcLang", "trgLang")  # fmt: skip
    edits = []
    for node in root.iter(head):
        known = node.attributes.get(other, "")
        check_catalog("texts in", node.attributes.get(own, ""), options.source)
        if not options.is_complete:
            check_catalog("translations into", known, options.target)
        if options.target and not names_language(known, options.target):
            tag = set_attribute(node.tag, other, options.target)
            edits.append(Edit(node.start, node.tag_end, tag))
    units = [*_read_units(root)]
    for unit in units:
        parts = [*_make_parts(unit, options.is_complete)]
        unit.text = MarkedText(parts, write_page_paragraph)
        unit.holder.children = unit.source.children = ()  # which have been read, and take memory
    found = [unit for unit in units if unit.text.paragraphs]
    return EditedFile(file, found, edits, partial(read_label, language=options.target))


@dataclass(slots=True)
class _Unit:
    """A text with the place of its translation.

    Attributes:
        holder: The element that holds both: ``trans-unit`` or ``segment``.
        place: What names it.
        source: The text.
        keeps_lines: Whether line breaks are text.
        codes: Code of the original format (``originalData``), by its names.
        segments: The same text divided into segments (``seg-source``).
        target: The translation.
        text: What the new translation consists of: markup, translated segments, and the texts to translate.
    """

    holder: XmlNode
    place: str
    source: XmlNode
    keeps_lines: bool
    codes: Mapping[str, str]
    segments: XmlNode | None
    target: XmlNode | None
    text: MarkedText = field(init=False)

    @property
    def start(self) -> int:
        """Where the text starts."""
        return self.source.start

    @property
    def paragraphs(self) -> list[Paragraph]:
        """The texts to translate."""
        for each in self.text.paragraphs:
            each.place = self.place
        return self.text.paragraphs

    @property
    def is_translated(self) -> bool:
        """Whether the target is a translation."""
        if self.target is None or not self.target.text.strip():
            return False
        own, holder = self.target.attributes, self.holder.attributes
        is_new = not _UNTRANSLATED.isdisjoint({own.get("state"), holder.get("state")})
        return not is_new or _UNREAD_2.items() <= holder.items()

    def read(self, node: XmlNode) -> Iterator[Part]:
        """Yield the parts of a text to translate."""
        return make_parts(node.children, self.keeps_lines, self.codes)

    def edit(self, translations: Sequence[Translated]) -> Iterator[Edit]:
        """Yield the edits that write a translation and its state."""
        if any(each.is_missing for each in translations):
            return
        is_finished = all(each.is_finished for each in translations)
        name = f"{self.source.prefix}target"
        opening = _open(self.target.tag if self.target else f"<{name}>")
        if space := self.source.attributes.get(_SPACE):
            opening = set_attribute(opening, _SPACE, space)
        holder = self.holder.tag
        if self.holder.name == "segment":
            holder = _set_state(holder, _UNREAD_2, is_finished)
        else:
            opening = _set_state(opening, _UNREAD_1, is_finished)
            if not is_finished and self.holder.attributes.get("approved") == "yes":
                holder = set_attribute(holder, "approved", "no")
        if holder != self.holder.tag:
            yield Edit(self.holder.start, self.holder.tag_end, holder)
        element = f"{opening}{self.text.write(translations)}</{name}>"
        if self.target:
            yield Edit(self.target.start, self.target.end, element)
        else:
            at = (self.segments or self.source).end
            text, start = self.source.document, self.source.start
            before = text[text.rfind(">", 0, start) + 1 : start]
            yield Edit(at, at, before[len(before.rstrip()) :] + element)


def _set_state(tag: str, unread: Mapping[str, str], is_finished: bool) -> str:
    """Return a tag with the state of a new translation; what describes the state closer belongs to the old one."""
    state, closer = unread
    if is_finished:
        return set_attribute(remove_attribute(tag, closer), state, _TRANSLATED)
    return set_attribute(set_attribute(tag, state, unread[state]), closer, unread[closer])


def _open(tag: str) -> str:
    """Return a tag as one that opens an element; it may be an empty element."""
    return f"{tag[:-2].rstrip()}>" if tag.endswith("/>") else tag


def _make_parts(unit: _Unit, is_complete: bool) -> Iterator[Part]:
    """Yield what the translation of a unit consists of.

    Args:
        unit: The text.
        is_complete: Whether what has a translation is translated again.
    """
    is_done = not is_complete and unit.is_translated
    sources, targets = _find_segments(unit.segments), _find_segments(unit.target)
    if not sources or (is_done and not targets):
        if not is_done:
            yield from unit.read(unit.source)
        return
    whole = unit.target if unit.target and sources.keys() <= targets.keys() else unit.segments
    assert whole is not None  # it has the sources
    text, at = whole.document, whole.tag_end
    for number, segment in _find_segments(whole).items():
        yield Part("break", text[at : segment.start] + _open(segment.tag))
        done = targets.get(number)
        if number not in sources or (is_done and done and done.text.strip()):
            inner = "".join(each.source for each in done.children) if done else ""
            yield Part("break", inner)
        else:
            yield from unit.read(sources[number])
        yield Part("break", f"</{segment.prefix}mrk>")
        at = segment.end
    yield Part("break", text[at : whole.close])


def _find_segments(node: XmlNode | None) -> dict[str, XmlNode]:
    """Return the segments of a text by their ids; what stands in a segment is none."""
    found: dict[str, XmlNode] = {}
    for child in node.children if node else ():
        own = {child.attributes.get("mid", ""): child} if _is_segment(child) else None
        found |= _find_segments(child) if own is None else own
    return found


def _is_segment(node: XmlNode) -> bool:
    return node.name == "mrk" and node.attributes.get("mtype") == "seg"


def _read_units(
    node: XmlNode,
    translate: bool = True,
    space: str = "default",
    place: str = "",
    codes: Mapping[str, str] | None = None,
) -> Iterator[_Unit]:
    """Yield the texts in an element that may be translated; those of other translations (alt-trans) are none.

    Args:
        node: The element.
        translate: Whether its texts are translated, if it does not say so.
        space: What its white space means, if it does not say so.
        place: What names its texts: the file, or the unit of a file.
        codes: See `_Unit`.
    """
    own = node.attributes.get("translate")
    translate = translate if own is None else own != "no"
    space = node.attributes.get(_SPACE, space)
    if node.name in ("unit", "trans-unit"):
        codes = {each.attributes.get("id", ""): each.text for each in node.iter("data")}
        place = f"unit {node.attributes.get('id', '')}".rstrip() + place
    if node.name == "file" and (name := node.attributes.get("original")):
        place = f" of {name}"
    source = node.find("source") if node.name in _HOLDERS and translate else None
    if source is not None:
        keeps_lines = source.attributes.get(_SPACE, space) == "preserve"
        others = node.find("seg-source"), node.find("target")
        yield _Unit(node, place, source, keeps_lines, codes or {}, *others)
    for child in node.children:
        yield from _read_units(child, translate, space, place, codes)
