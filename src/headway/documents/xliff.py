"""Translation files (.xlf, .xliff) in XLIFF 1.2 and 2.x."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from headway.documents.blocks import Block, flatten, make_block
from headway.documents.edits import Edit, apply_edits
from headway.documents.paragraph import DocumentOptions, Translated
from headway.documents.placing import place
from headway.documents.text_file import read_text_file
from headway.documents.xliff_inline import make_parts
from headway.documents.xml_tokens import XmlToken, set_attribute, tokenize_xml
from headway.errors import HeadwayError
from headway.text.languages import is_translatable

_ENCODING = re.compile(rb"""<\?xml[^>]*?\bencoding\s*=\s*["']([\w.:-]+)""")
# States of a target that is no translation yet.
_UNTRANSLATED = {"new", "needs-translation", "needs-l10n", "needs-adaptation", "initial"}


@dataclass
class _Unit:
    """A text with the place of its translation.

    Attributes:
        holder: The tag that holds both: ``trans-unit`` or ``segment``.
        source: The opening tag of the text.
        block: The text.
        after: The token after which a translation is inserted.
        target: The tokens of the translation, with its tags.
    """

    holder: XmlToken
    source: XmlToken
    block: Block
    after: XmlToken
    target: list[XmlToken]


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
        self._heads = [
            token
            for token in tokens
            if token.kind == "open"
            and token.name == ("file" if self._is_first_version else "xliff")
        ]
        self._units = [
            unit
            for unit in _read_units(tokens)
            if is_translatable(unit.block.text)
            and (options.is_complete or not _is_translated(unit))
        ]

    @property
    def paragraphs(self) -> Sequence[Block]:
        """The texts that have no translation."""
        return [unit.block for unit in self._units]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with translations of its texts."""
        edits = self._edit_heads()
        for unit, translated in zip(self._units, translations, strict=True):
            edits += self._edit_unit(unit, translated)
        return self._file.encode_markup(apply_edits(self._file.text, edits))

    def _edit_heads(self) -> list[Edit]:
        """Return the edits that name the target language."""
        attribute = "target-language" if self._is_first_version else "trgLang"
        edits = []
        for head in self._heads:
            known = head.attributes.get(attribute, "").lower().partition("-")[0]
            if self._language and known != self._language.lower().partition("-")[0]:
                tag = set_attribute(head.source, attribute, self._language)
                edits.append(Edit(head.start, head.end, tag))
        return edits

    def _edit_unit(self, unit: _Unit, translated: Translated) -> list[Edit]:
        """Return the edits that write a translation and its state."""
        name = re.sub(r"source$", "target", re.split(r"[\s>]", unit.source.source[1:])[0])
        opening = unit.target[0].source if unit.target else f"<{name}>"
        opening = re.sub(r"\s*/>$", ">", opening)
        edits = []
        if self._is_first_version:
            opening = set_attribute(opening, "state", "translated")
        else:
            holder = set_attribute(unit.holder.source, "state", "translated")
            edits.append(Edit(unit.holder.start, unit.holder.end, holder))
        element = f"{opening}{_write_block(unit.block, translated)}</{name}>"
        if unit.target:
            edits.append(Edit(unit.target[0].start, unit.target[-1].end, element))
        else:
            before = self._file.text[: unit.source.start]
            indent = before[len(before.rstrip()) :]
            edits.append(Edit(unit.after.end, unit.after.end, indent + element))
        return edits


def _write_block(block: Block, translated: Translated) -> str:
    if translated.text == block.text:
        return block.source
    return "".join(
        part if is_markup else html.escape(part, quote=False)
        for part, is_markup in flatten(place(block, translated))
    )


def _is_translated(unit: _Unit) -> bool:
    if not any(token.kind in ("text", "data") and token.text.strip() for token in unit.target):
        return False
    states = unit.target[0].attributes.get("state"), unit.holder.attributes.get("state")
    return not any(state in _UNTRANSLATED for state in states)


def _read_units(tokens: Sequence[XmlToken]) -> list[_Unit]:
    """Return the texts that may be translated; those of other translations (alt-trans) are none."""
    units: list[_Unit] = []
    path: list[XmlToken] = []
    translate = [True]
    at = 0
    while at < len(tokens):
        token = tokens[at]
        holder = path[-1] if path else None
        is_child = holder is not None and holder.name in ("trans-unit", "segment")
        if (
            token.kind in ("open", "empty")
            and is_child
            and token.name in ("source", "seg-source", "target")
        ):
            end = _find_end(tokens, at)
            element = list(tokens[at:end])
            assert holder is not None
            if token.name == "source" and translate[-1]:
                block = make_block(make_parts(element[1:-1]))
                units.append(_Unit(holder, token, block, element[-1], []))
            elif units and units[-1].holder is holder and token.name == "target":
                units[-1].target = element
            elif units and units[-1].holder is holder:
                units[-1].after = element[-1]
            at = end
            continue
        if token.kind == "open":
            path.append(token)
            own = token.attributes.get("translate")
            translate.append(translate[-1] if own is None else own != "no")
        elif token.kind == "close":
            path.pop()
            translate.pop()
        at += 1
    return units


def _find_end(tokens: Sequence[XmlToken], start: int) -> int:
    """Return the number of the first token after the element that begins at ``start``."""
    depth = 0
    for number in range(start, len(tokens)):
        depth += {"open": 1, "close": -1}.get(tokens[number].kind, 0)
        if depth == 0:
            return number + 1
    raise AssertionError("the document is not well-formed")
