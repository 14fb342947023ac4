"""The direction of the text in office files: a translation from or into a language of the other direction turns it."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from headway.documents.edits import Edit
from headway.documents.languages import Language
from headway.documents.xml_tokens import XmlToken, find_attributes, tokenize_xml

TurnText = Callable[[XmlToken, str, tuple[str, str]], list[Edit]]
_SWITCHES = (
    "bidi",
    "bidiVisual",
    "rtl",
)  # elements of Word: of paragraphs and sections, of tables, of runs
_OFF = ("0", "false", "off")
# What stands before such an element; the order of the properties is fixed.
_BEFORE_BIDI = frozenset({
    "autoSpaceDE", "autoSpaceDN", "framePr", "keepLines", "keepNext", "kinsoku", "numPr", "overflowPunct", "pBdr", "pStyle",
    "pageBreakBefore", "shd", "suppressAutoHyphens", "suppressLineNumbers", "tabs", "topLinePunct", "widowControl", "wordWrap",
})  # fmt: skip
_BEFORE_BIDI_VISUAL = frozenset({"tblStyle", "tblpPr", "tblOverlap"})


class Turn(NamedTuple):
    """An attribute that depends on the direction of the text.

    Attributes:
        name: The attribute, with its prefix.
        ltr: Its value for text from left to right.
        rtl: Its value for text from right to left.
        is_added: Whether text from right to left gets it where it is missing.
    """

    name: str
    ltr: str
    rtl: str
    is_added: bool = False


def turn_attributes(turns: Mapping[str, Sequence[Turn]]) -> TurnText:
    """Return a function that turns the text by attributes.

    Args:
        turns: The attributes, by the names of elements without prefixes.
    """

    def turn_text(token: XmlToken, source: str, directions: tuple[str, str]) -> list[Edit]:
        edits = []
        spans = find_attributes(token.source) if token.name in turns else {}
        for turn in turns.get(token.name, ()):
            before, after = (getattr(turn, direction) for direction in directions)
            if turn.name in spans:
                start, end = spans[turn.name]
                if token.source[start + 1 : end - 1] == before:
                    edits.append(Edit(token.start + start, token.start + end, f'"{after}"'))
            elif turn.is_added and directions[1] == "rtl":
                edits.append(_add_attribute(token, turn.name, after))
        return edits

    return turn_text


def turn_word(token: XmlToken, source: str, directions: tuple[str, str]) -> list[Edit]:
    """Return the edits that turn paragraphs, sections, tables and runs of Word that have a direction, and all tables."""
    after = directions[1]
    if token.name in _SWITCHES:
        name = f"{token.prefix}val"
        span = find_attributes(token.source).get(name)
        value = token.source[span[0] + 1 : span[1] - 1] if span else "1"
        if (value.lower() in _OFF) == (after == "ltr"):
            return []
        new = "1" if after == "rtl" else "0"
        if span is None:
            return [_add_attribute(token, name, new)]
        return [Edit(token.start + span[0], token.start + span[1], f'"{new}"')]
    if token.name == "tblPr" and token.kind == "open" and after == "rtl":
        return _add_child(token, source, "bidiVisual", _BEFORE_BIDI_VISUAL)
    return []


def turn_word_styles(token: XmlToken, source: str, directions: tuple[str, str]) -> list[Edit]:
    """Return the edits that turn the styles of Word: a paragraph without a direction gets that of the translation."""
    edits = turn_word(token, source, directions)
    if directions[1] != "rtl":
        return edits
    prefix = token.prefix
    default = f"<{prefix}pPrDefault><{prefix}pPr><{prefix}bidi/></{prefix}pPr></{prefix}pPrDefault>"
    if token.name == "styles" and token.kind == "open":
        if f"<{prefix}docDefaults" not in source:
            added = f"<{prefix}docDefaults>{default}</{prefix}docDefaults>"
            edits.append(Edit(token.end, token.end, added))
    elif token.name == "docDefaults" and token.kind == "open":
        content, end = _read_content(token, source)
        places = [each for each in content if each.name == "pPrDefault"]
        inner = [each for each in content if each.name == "pPr"]
        if not places:
            edits.append(Edit(end, end, default))
        elif not inner:
            edits.append(_replace_element(places[0], source, default))
        elif inner[0].kind == "empty":
            edits.append(
                _replace_element(inner[0], source, f"<{prefix}pPr><{prefix}bidi/></{prefix}pPr>")
            )
        else:
            edits += _add_child(inner[0], source, "bidi", _BEFORE_BIDI)
    return edits


def _add_attribute(token: XmlToken, name: str, value: str) -> Edit:
    place = token.end - (2 if token.kind == "empty" else 1)
    return Edit(place, place, f' {name}="{value}"')


def _add_child(opening: XmlToken, source: str, name: str, earlier: frozenset[str]) -> list[Edit]:
    """Return the edit that adds an empty element to another one, unless it has it.

    Args:
        opening: The tag of the other one.
        source: Of the part.
        name: Of the new element, without a prefix.
        earlier: Names of the elements that stand before it.
    """
    content, end = _read_content(opening, source)
    depth, place = 0, end
    for token in content:
        if depth == 0 and token.kind in ("open", "empty"):
            if token.name == name:
                return []
            if token.name not in earlier:
                place = min(place, token.start)
        depth += (token.kind == "open") - (token.kind == "close")
    return [Edit(place, place, f"<{opening.prefix}{name}/>")]


def _replace_element(opening: XmlToken, source: str, new: str) -> Edit:
    end = opening.end
    if opening.kind == "open":
        name = f"{opening.prefix}{opening.name}"
        end = source.index(">", source.index(f"</{name}", opening.end)) + 1
    return Edit(opening.start, end, new)


def _read_content(opening: XmlToken, source: str) -> tuple[list[XmlToken], int]:
    """Return the tokens in an element, and where its closing tag starts; it is in no element of its name."""
    end = source.index(f"</{opening.prefix}{opening.name}", opening.end)
    close = source.index(">", end) + 1
    tokens = tokenize_xml(source[opening.start : close])[1:-1]
    return [token._replace(start=token.start + opening.start) for token in tokens], end


def edit_direction(
    token: XmlToken, source: str, turn_text: TurnText | None, language: Language
) -> list[Edit]:
    """Return the edits of a tag that give the text the direction of the translation.

    Args:
        token: The tag.
        source: Of the part.
        turn_text: How the part says in which direction text is written; None: it does not.
        language: The languages of the translation.
    """
    if turn_text is None or not language.directions:
        return []
    return turn_text(token, source, language.directions)
