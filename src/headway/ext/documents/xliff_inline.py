"""The inline elements of XLIFF: code of the original format, and marked text."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from headway.ext.documents.blocks import LINE_BREAK, Part, make_kept
from headway.ext.documents.xml_tokens import XmlToken, find_ends, find_parents, read_text
from headway.ext.protect import BREAK_TAG, BREAKS, ProtectedText, find_protected_text

# Elements that stand for an opening tag of the original format -> for the closing tag of the same.
_OPENING, _CLOSING = {"bx", "bpt", "sc", "sm"}, {"ex", "ept", "ec", "em"}
_CODE = {"bpt", "ept", "ph", "it", "ut"}  # their content is code of the original format
_ALONE = {"ph", "x"}  # elements that stand for code which may be a placeholder
_BREAK = re.compile(rf"(?:(?:{BREAK_TAG}|\\[nrt])\s*+)++")
_PLACEHOLDERS = ("ICU", "INTERPOLATION")  # how Angular's names of placeholders begin
_WORD = "{}"  # stands for a placeholder in the text


def make_parts(
    tokens: Sequence[XmlToken], keeps_lines: bool, codes: Mapping[str, str]
) -> Iterator[Part]:
    """Yield the parts of a text; code, and text that is not for translation, is markup.

    A line break, and a tag of a paragraph, is a break.

    Args:
        tokens: Of the text.
        keeps_lines: Whether line breaks are text; otherwise they are spaces.
        codes: Code of the original format that elements refer to, by its names.
    """
    at, ends = 0, find_ends(tokens)
    protected = _find_protected(tokens, ends)
    breaks: dict[
        str, list[bool]
    ] = {}  # whether the tags that are open are breaks, by what pairs them
    while at < len(tokens):
        token, start = tokens[at], at
        is_protected = at in protected
        is_whole = is_protected or (token.name in _CODE and token.kind != "close")
        at = protected.get(at, ends[at]) if is_whole else at + 1
        source = "".join(each.source for each in tokens[start:at])
        content = read_text(tokens[start:at]) if is_whole else ""
        if token.is_text:
            is_spaced = token.kind == "text" and not keeps_lines
            text = html.unescape(LINE_BREAK.sub(" ", source)) if is_spaced else token.text
            yield Part("text", source, text)
            continue
        kind, name = (None, "") if is_protected else _find_side(token)
        is_tag = token.kind in ("open", "empty")
        is_break = is_tag and _is_break(token, content or _find_code(token, codes))
        if kind == "open":
            breaks.setdefault(name, []).append(is_break)
        elif kind == "close" and breaks.get(name):
            is_break = breaks[name].pop() or is_break
        if is_break:
            yield Part("break", source)
        elif is_protected:
            yield make_kept(source, content)
        elif kind is not None:
            yield Part(kind, source, name=name)
        else:
            yield make_kept(source, _read_kept(token, content, codes))


def _find_side(token: XmlToken) -> tuple[Literal["open", "close"] | None, str]:
    """Return whether a tag opens or closes something in the original format, and what pairs it with the other one."""
    if token.name in _OPENING:
        return "open", _pair_name(token)
    if token.name in _CLOSING:
        return "close", _pair_name(token)
    if token.name not in _CODE and token.kind == "open":
        return "open", token.name
    return ("close" if token.kind == "close" else None), token.name


def _read_kept(token: XmlToken, content: str, codes: Mapping[str, str]) -> str:
    """Return the text of an element that stays; "" if it stands for no word, such as a tag or a line break.

    Args:
        token: Its first tag.
        content: The text in it.
        codes: See `make_parts`.
    """
    if token.name in _ALONE:
        return _WORD if _is_placeholder(token, content or _find_code(token, codes)) else ""
    return "" if token.name in _CODE else content


def _is_break(token: XmlToken, code: str) -> bool:
    """Return whether an element stands for a line break or for a tag of a paragraph, as its type or its code say."""
    attributes = token.attributes
    kinds = attributes.get("ctype", ""), attributes.get("subType", "")
    names = {re.split("[:-]", kind)[-1].casefold() for kind in kinds}
    return bool(_BREAK.fullmatch(code.strip())) or not names.isdisjoint({"lb", "pb", *BREAKS})


def _find_code(token: XmlToken, codes: Mapping[str, str]) -> str:
    """Return the code of the original format that an element without content stands for; "" if nothing says it."""
    attributes = token.attributes
    reference = attributes.get("dataRef") or attributes.get("dataRefStart", "")
    shown = (attributes.get(name) for name in ("equiv-text", "disp", "dispStart"))
    return codes.get(reference) or next(filter(None, shown), "")


def _is_placeholder(token: XmlToken, code: str) -> bool:
    """Return whether an element stands for a placeholder, as its name, its type or its code say."""
    attributes = token.attributes
    names = attributes.get("id", ""), attributes.get("equiv", "")
    if any(name.startswith(_PLACEHOLDERS) for name in names):
        return True
    code = code.strip()
    is_variable = attributes.get("subType") == "xlf:var"
    return is_variable or find_protected_text(code) == [ProtectedText(0, len(code), "name")]


def _find_protected(tokens: Sequence[XmlToken], ends: Sequence[int]) -> dict[int, int]:
    """Return where text that is not for translation ends, by the number of the tag before it.

    It stands in a ``mrk``, or between ``sm`` and ``em`` if both are in the same element.
    """
    found: dict[int, int] = {}
    parents = find_parents(tokens)
    started: dict[str, int] = {}  # the marks
    for number, token in enumerate(tokens):
        if token.kind == "close":
            continue
        if token.name in ("mrk", "sm") and _is_protected(token):
            if token.name == "sm":
                started[_pair_name(token)] = number
            elif token.kind == "open":
                found[number] = ends[number]
        elif token.name == "em":
            start = started.pop(_pair_name(token), number)
            if start < number and parents[start] == parents[number]:
                found[start] = ends[number]
    return found


def _is_protected(token: XmlToken) -> bool:
    attributes = token.attributes
    return attributes.get("translate") == "no" or attributes.get("mtype") == "protected"


def _pair_name(token: XmlToken) -> str:
    """Return what an opening and its closing element have in common."""
    attributes = token.attributes
    if token.name in ("ec", "em"):
        return f"sc {attributes.get('startRef', '')}"
    if token.name in ("sc", "sm"):
        return f"sc {attributes.get('id', '')}"
    return f"bx {attributes.get('rid') or attributes.get('id', '')}"
