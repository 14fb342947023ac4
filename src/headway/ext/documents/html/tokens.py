"""The tokens of HTML: tags, comments and text, by the rules of the HTML standard (13.2.5, Tokenization).

Every character of the source belongs to one token, so that the tokens together are the source again.
Where a browser drops markup that never ends, it stays one token here. A CDATA section is one token, also where a browser
reads text behind a > in it. A tag of a template engine is a token before anything in it means something to HTML.
"""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from headway.ext.documents.marked_text import LINE_BREAK, Part, make_kept

# No tag begins inside of another one of its kind, so that the time is linear. As text may speak of {{, {% and {#, too,
# no tag of HTML stands between {{ and }}, and no line break; no element that begins before {% or {# ends before %} or #};
# and what follows {% is a name, what follows {# a space, unless all is in one line without tags.
TEMPLATE_SOURCE = r"""
    \{\{\{? (?:(?!\{\{|\}\}|<[a-zA-Z/!?])[^\n])*+ \}\}\}?
    | \{% [-+]?\s*+[^\W\d] (?s:"[^"{}%\n]*+"|'[^'{}%\n]*+'|(?!\{%|%\}|<[a-zA-Z/]).)*+ (?!</) (?s:(?!\{%|%\}).)*+ %\}
    | \{\# (?=[-+\s]) (?s:(?!\{\#|\#\}|<[a-zA-Z/]).)*+ (?!</) (?s:(?!\{\#|\#\}).)*+ \#\}
    | \{\# (?:(?!\#\})[^{}<\n])*+ \#\}
    | <% (?s:(?!<%|%>).)*+ %>
    | <\?(?:=|(?i:php)\b) (?s:(?!\?>).)*+ (?:\?>|\Z)
"""
TEMPLATE = re.compile(f"({TEMPLATE_SOURCE})", re.VERBOSE)
# What prints something, and is no condition, loop or block. The text behind these must not leave its place.
_VALUE = re.compile(
    r"\{\{(?!\{?[-~]?\s*(?:[#^/!]|(?:block|define|else|end|if|range|with)\b))|<%[-=]|<\?(?:=|php\s+(?:echo|print)\b)"
)


def make_template(source: str) -> Part:
    """Return a tag of a template engine, which stays: what prints something stands for a word, and a text ends at others."""
    is_value = _VALUE.match(source) is not None
    return make_kept(source, " ".join(source.split())) if is_value else Part("break", source)


def read_templates(source: str, read: Callable[[str], str]) -> Iterator[Part]:
    """Yield the text and the tags of template engines in an attribute or a title.

    Args:
        source: The value.
        read: Returns what its text means.
    """
    for number, raw in enumerate(TEMPLATE.split(source)):
        if number % 2:
            yield make_template(raw)
        elif raw:
            yield Part("text", raw, read(raw))


MARKUP = re.compile(r"<|\{[{%#]")  # may begin here
_NAME = re.compile(r"[a-zA-Z](?:[^\t\n\f\r />{]|\{(?![{%#]))*+")
_BETWEEN = re.compile(rf"(?:[\t\n\f\r\ /]|{TEMPLATE_SOURCE})*+", re.VERBOSE)  # attributes
_ATTRIBUTE = re.compile(r"=?[^\t\n\f\r />=]*+")
_EQUALS = re.compile(r"[\t\n\f\r ]*+=[\t\n\f\r ]*+")
_BARE_VALUE = re.compile(rf"(?:{TEMPLATE_SOURCE}|[^\t\n\f\r\ >])++", re.VERBOSE)
_QUOTED_VALUES = {
    quote: re.compile(rf"(?:[^{quote}{{<]++|{TEMPLATE_SOURCE}|[{{<])*+", re.VERBOSE)
    for quote in "\"'"
}
_COMMENT_END = re.compile(r"--!?>")
_SCRIPT_MARK = re.compile(r"<!--(?!-?>)|-->|<(/?)script(?=[\t\n\f\r />])", re.IGNORECASE)
# A character reference; no character has eight digits.
_NUMBER = re.compile(r"&#0*([0-9]{1,8})[0-9]*")
RAW_TEXT = frozenset({
    "iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A token of HTML.

    Attributes:
        kind: ``other`` is a comment, a declaration, or markup that never ends.
        text: As it stands in the source.
        name: Of a tag, in lower case.
        attributes: Of an opening tag, by their names in lower case; the first of two counts.
        spans: Where the value of each attribute stands in ``text``, without quotes.
        is_closed: Whether an opening tag ends in ``/>``.
    """

    kind: Literal["text", "open", "close", "template", "other"]
    text: str
    name: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    is_closed: bool = False


def decode_text(token: Token) -> str:
    """Return what text means: without character references and line breaks."""
    return LINE_BREAK.sub(" ", html.unescape(_NUMBER.sub(r"&#\1", token.text)))


def tokenize(source: str) -> Iterator[Token]:
    """Yield the tokens of a document or a fragment, in linear time."""
    at = text_start = raw_end = 0  # before the last one, tags are text
    while found := MARKUP.search(source, at):
        at = found.start()
        token = _read_template(source, at, raw_end if at < raw_end else len(source))
        if token is None and at >= raw_end:
            token = _read_markup(source, at)
        if token is None:
            at += 1
            continue
        if text_start < at:
            yield Token("text", source[text_start:at])
        yield token
        at = text_start = at + len(token.text)
        if (
            token.kind == "open" and token.name in RAW_TEXT and not token.is_closed
        ):  # closed in XHTML
            raw_end = _find_raw_text_end(source, at, token.name)
    if text_start < len(source):
        yield Token("text", source[text_start:])


def _read_template(source: str, start: int, end: int) -> Token | None:
    """Return the tag of a template engine that begins at start, and ends before ``end``; None if there is none."""
    found = TEMPLATE.match(source, start, end)
    return Token("template", found[0]) if found else None


def _read_markup(source: str, start: int) -> Token | None:
    """Return the token that begins with the ``<`` at start; None if it is text."""
    if tag := _NAME.match(source, start + 1):
        return _read_tag(source, start, "open", tag.end())
    if tag := _NAME.match(source, start + 2) if source.startswith("</", start) else None:
        return _read_tag(source, start, "close", tag.end())
    if source.startswith("<!--", start):
        if source.startswith((">", "->"), start + 4):  # an empty comment
            end = source.index(">", start + 4) + 1
        else:
            found = _COMMENT_END.search(source, start + 4)
            end = found.end() if found else len(source)
        return Token("other", source[start:end])
    if source.startswith(("<!", "<?", "</"), start) and start + 2 < len(source):
        closing = "]]>" if source.startswith("<![CDATA[", start) else ">"
        end = source.find(closing, start + 2)
        return Token("other", source[start : end + len(closing) if end >= 0 else len(source)])
    return None


def _read_tag(source: str, start: int, kind: Literal["open", "close"], at: int) -> Token:
    """Read the rest of a tag, from the end of its name at position ``at``."""
    name = source[start + (1 if kind == "open" else 2) : at].lower()
    attributes: dict[str, str] = {}
    spans: dict[str, tuple[int, int]] = {}
    while True:
        between = _BETWEEN.match(source, at)
        assert between is not None  # it also matches nothing
        is_closed, at = between[0].endswith("/"), between.end()
        if source.startswith(">", at):
            return Token(kind, source[start : at + 1], name, attributes, spans, is_closed)
        attribute = _ATTRIBUTE.match(source, at)
        assert attribute is not None
        at, value = attribute.end(), ""
        span = at, at
        if equals := _EQUALS.match(source, at):
            at = equals.end()
            if quoted := _QUOTED_VALUES.get(source[at : at + 1]):
                found = quoted.match(source, at + 1)
                assert found is not None  # it also matches nothing
                value, at, span = found[0], found.end() + 1, found.span()
            elif bare := _BARE_VALUE.match(source, at):
                value, at, span = bare[0], bare.end(), bare.span()
        if at >= len(source):
            return Token("other", source[start:])
        if (key := attribute[0].lower()) not in attributes:
            attributes[key] = value
            spans[key] = span[0] - start, span[1] - start


def _find_raw_text_end(source: str, at: int, name: str) -> int:
    """Return where the closing tag of an element begins that holds text only; tags in it are text."""
    if name == "script":
        return _find_script_end(source, at)
    found = re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE).search(source, at)
    return found.start() if found else len(source)


def _find_script_end(source: str, at: int) -> int:
    """Return where a script ends: ``<!-- <script>`` hides the next ``</script>``."""
    is_comment = is_hidden = False
    for mark in _SCRIPT_MARK.finditer(source, at):
        if mark[0] == "<!--":
            is_comment = True
        elif mark[0] == "-->":
            is_comment = is_hidden = False
        elif not mark[1]:
            is_hidden = is_comment
        elif not is_hidden:
            return mark.start()
        else:
            is_hidden = False
    return len(source)
