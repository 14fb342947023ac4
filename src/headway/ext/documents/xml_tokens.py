"""The tokens of well-formed XML with their places, so that a part can be replaced and the rest stays."""

import html
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple
from xml.parsers import expat

from headway.errors import HeadwayError
from headway.ext.documents.text_file import check_count

_TOKEN = re.compile(
    r"(?P<other><!--.*?-->|<\?.*?\?>|<!DOCTYPE[^>]*>)|<!\[CDATA\[(?P<data>.*?)\]\]>"
    r"""|<(?P<close>/?)(?P<name>[^\s<>"'/]++)(?:[^<>"'/]++|"[^"]*"|'[^']*'|/(?!>))*+(?P<empty>/?)>""",
    re.DOTALL,
)
# White space stands before each: a name is read once, from its beginning, and the time is linear in the length of the tag.
_ATTRIBUTE = re.compile(r"""(?<=\s)([^\s=<>"'/]++)\s*+=\s*+("[^"]*"|'[^']*')""")


class XmlToken(NamedTuple):
    """A token of XML.

    Attributes:
        kind: A tag (``empty``: without content), text, or anything else.
        start: Where it starts.
        source: The token as it stands in the file.
        name: Of a tag, without a prefix; the content of a CDATA section.
    """

    kind: Literal["open", "close", "empty", "text", "data", "other"]
    start: int
    source: str
    name: str = ""

    @property
    def end(self) -> int:
        """Where the token ends."""
        return self.start + len(self.source)

    @property
    def prefix(self) -> str:
        """Of a tag: the prefix of its name, with the colon."""
        name = re.split(r"[\s/>]", self.source[1:].lstrip("/"), maxsplit=1)[0]
        return name[: name.rfind(":") + 1]

    @property
    def is_text(self) -> bool:
        """Whether the token is text or a CDATA section."""
        return self.kind in ("text", "data")

    @property
    def text(self) -> str:
        """What text or a CDATA section means."""
        return self.name if self.kind == "data" else html.unescape(self.source)

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes of a tag."""
        found = _ATTRIBUTE.findall(self.source)
        return {name: html.unescape(value[1:-1]) for name, value in found}


def read_text(tokens: Sequence[XmlToken]) -> str:
    """Return the text among tokens."""
    return "".join(token.text for token in tokens if token.is_text)


def find_ends(tokens: Sequence[XmlToken]) -> list[int]:
    """Return for each token of whole elements the number of the first token after it, or after the element that it opens."""
    ends = [*range(1, len(tokens) + 1)]
    opened: list[int] = []
    for number, token in enumerate(tokens):
        if token.kind == "open":
            opened.append(number)
        elif token.kind == "close":
            ends[opened.pop()] = number + 1
    return ends


def find_parents(tokens: Sequence[XmlToken]) -> list[int]:
    """Return for each token the number of the opening tag around it; -1: none. A closing tag stands in its element."""
    parents, opened = [], [-1]
    for number, token in enumerate(tokens):
        parents.append(opened[-1])
        if token.kind == "open":
            opened.append(number)
        elif token.kind == "close":
            opened.pop()
    return parents


def tokenize_xml(source: str) -> list[XmlToken]:
    """Return the tokens of an XML document; together they are the document.

    Raises:
        HeadwayError: If the document is not well-formed, declares entities, or has too many tags.
    """
    check_count(source.count("<"), "tags")
    _check_form(source)
    return list(_tokenize(source))


def _tokenize(source: str) -> Iterator[XmlToken]:
    at = 0
    # To find the sign is much faster than a search by the pattern, which holds the interpreter until its end.
    while (start := source.find("<", at)) >= 0 and (found := _TOKEN.match(source, start)):
        if at < start:
            yield XmlToken("text", at, source[at:start])
        at = found.end()
        if found["other"] is not None:
            yield XmlToken("other", found.start(), found[0])
        elif found["data"] is not None:
            yield XmlToken("data", found.start(), found[0], found["data"])
        else:
            name = found["name"].rpartition(":")[2]
            kind: Literal["open", "close", "empty"] = "close" if found["close"] else "open"
            yield XmlToken("empty" if found["empty"] else kind, found.start(), found[0], name)
    if at < len(source):
        yield XmlToken("text", at, source[at:])


def _check_form(source: str) -> None:
    parser = expat.ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = _refuse_entities
    try:
        parser.Parse(source.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise HeadwayError(f"is no well-formed XML: line {error.lineno}: {reason}") from None


def _refuse_entities(name: str, system: str | None, public: str | None, has_subset: int) -> None:
    if has_subset:
        raise HeadwayError("declares entities, which are not read")


def find_attributes(tag: str) -> dict[str, tuple[int, int]]:
    """Return where the values of a tag's attributes stand in its source, with their quotes."""
    return {found[1]: found.span(2) for found in _ATTRIBUTE.finditer(tag)}


def set_attribute(tag: str, name: str, value: str) -> str:
    """Return the source of a tag with another value of an attribute."""
    if span := find_attributes(tag).get(name):
        return f'{tag[: span[0]]}"{html.escape(value)}"{tag[span[1] :]}'
    end = len(tag) - (2 if tag.endswith("/>") else 1)
    return f'{tag[:end].rstrip()} {name}="{html.escape(value)}"{tag[end:]}'


def remove_attribute(tag: str, name: str) -> str:
    """Return the source of a tag without an attribute."""
    pattern = rf"(?<!\s)\s*+{_ATTRIBUTE.pattern}"
    return re.sub(pattern, lambda found: "" if found[1] == name else found[0], tag)
